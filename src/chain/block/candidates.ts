import type { Hex } from '@tandem/base/bytes.ts'
import { CHAIN_LIMITS } from '../../config/limits/chain.ts'
import type { BlockExecution } from '../../evm/executor-types.ts'
import type { IncludedProof } from '../../rules/proof/proof-inclusion.ts'
import type { StateUpdate } from '../../state/update/state-update.ts'
import type { ChainBlock } from '../store/types.ts'

/** Block executed on the head and not yet decided; commit must not execute it again (docs/design/consensus.md#validation). */
export interface ExecutedBlock {
  readonly block: ChainBlock
  readonly execution: BlockExecution
  readonly update: StateUpdate
  readonly proofs: readonly IncludedProof[]
}

/** Executed candidates of the open height, by hash; the oldest is evicted. */
export class ExecutedBlocks {
  readonly #byHash = new Map<Hex, ExecutedBlock>()

  get(hash: Hex): ExecutedBlock | undefined {
    return this.#byHash.get(hash)
  }

  add(executedBlock: ExecutedBlock): void {
    this.#byHash.set(executedBlock.block.hash, executedBlock)
    if (this.#byHash.size <= CHAIN_LIMITS.candidates) return
    for (const oldest of this.#byHash.keys()) {
      this.#byHash.delete(oldest)
      return
    }
  }

  clear(): void {
    this.#byHash.clear()
  }
}
