import type { Hex } from '@tandem/base/bytes.ts'
import { LOCALNET_LIMITS } from '../../config/limits/commands.ts'
import type { NodeStatus } from './report/status.ts'

interface Witness {
  readonly node: string
  readonly hash: Hex
}

/** Heads seen on nodes: two of one number and of different hashes are a fork. */
export class ForkDetector {
  readonly #seen = new Map<number, Witness>()

  /** Returns both sides of the first fork among these heads and recent ones; undefined: they agree. */
  check(nodes: readonly NodeStatus[]): { readonly number: number; readonly hashes: readonly Witness[] } | undefined {
    for (const { name, number, hash } of nodes) {
      if (number === null || hash === null) continue
      const first = this.#seen.get(number)
      if (first === undefined) this.#remember(number, { node: name, hash })
      else if (first.hash !== hash) return { number, hashes: [first, { node: name, hash }] }
    }
    return undefined
  }

  #remember(number: number, witness: Witness): void {
    this.#seen.set(number, witness)
    if (this.#seen.size > LOCALNET_LIMITS.comparedBlocks) this.#seen.delete(this.#seen.keys().next().value as number)
  }
}
