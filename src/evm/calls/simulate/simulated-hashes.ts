import type { Hex } from '@tandem/base/bytes.ts'
import type { BlockEnv } from '../../block-env.ts'
import type { SimulationLimits } from './simulation-limits.ts'
import type { HashBlocks, SimulatedBlock } from './types.ts'

/**
 * Block hashes visible to simulated blocks. Those of simulated blocks need state roots from another thread: they are requested
 * when code reads one, and for all blocks so far at once.
 */
export class SimulatedHashes {
  readonly #base: { readonly number: number; readonly hash: Hex; readonly env: BlockEnv }
  readonly #blocks: readonly SimulatedBlock[]
  readonly #hash: HashBlocks
  readonly #meter: SimulationLimits
  #known: readonly Hex[] = []

  /** `blocks` grows during the simulation. */
  constructor(
    base: { readonly number: number; readonly hash: Hex; readonly env: BlockEnv },
    blocks: readonly SimulatedBlock[],
    hash: HashBlocks,
    meter: SimulationLimits,
  ) {
    this.#base = base
    this.#blocks = blocks
    this.#hash = hash
    this.#meter = meter
  }

  /** Returns a hash known synchronously; ZERO_HASH otherwise. */
  at(number: number): Hex {
    const { number: base, hash, env } = this.#base
    if (number === base) return hash
    return this.#known[number - base - 1] ?? env.blockHash(number)
  }

  /** undefined: `at` knows it, or it is unknown. */
  find(number: number): Promise<Hex> | undefined {
    const index = number - this.#base.number - 1
    if (index < this.#known.length || index >= this.#blocks.length) return undefined
    return this.#find(number)
  }

  async #find(number: number): Promise<Hex> {
    this.#meter.hashed()
    this.#known = await this.#hash(this.#blocks)
    return this.at(number)
  }
}
