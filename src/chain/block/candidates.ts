import { LIMITS } from '../../config/limits.ts'
import type { BlockExecution } from '../../evm/executor-types.ts'
import type { Sealed } from '../../state/update/state-update.ts'
import type { Hex } from '../../util/bytes.ts'
import type { ChainBlock } from '../types.ts'

/** A block executed on the head and not yet decided; commit must not execute it again (reference/consensus.md 1.4). */
export interface Candidate {
  readonly block: ChainBlock
  readonly execution: BlockExecution
  readonly sealed: Sealed
}

/** The few candidates of the open height, by hash; the oldest makes room. */
export class Candidates {
  readonly #byHash = new Map<Hex, Candidate>()

  get(hash: Hex): Candidate | undefined {
    return this.#byHash.get(hash)
  }

  add(candidate: Candidate): void {
    this.#byHash.set(candidate.block.hash, candidate)
    if (this.#byHash.size <= LIMITS.chain.candidates) return
    for (const oldest of this.#byHash.keys()) {
      this.#byHash.delete(oldest)
      return
    }
  }

  clear(): void {
    this.#byHash.clear()
  }
}
