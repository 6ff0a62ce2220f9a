import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { Chain } from '../../chain/chain.ts'
import type { Checkpoint } from '../../chain/snapshot/sync/snapshot-selector.ts'
import type { BlockStore } from '../../chain/store/block-store.ts'

/** The chain has another block at the number of the operator's checkpoint: one of them is not the network's. */
type CheckpointError = {
  readonly code: 'CHECKPOINT_CONTRADICTED'
  readonly number: number
  readonly expected: Hex
  readonly found: Hex
}

/**
 * Checks the chain against the checkpoint: at start, and when it reaches that block. Returns the function that ends it.
 * Throws CHECKPOINT_CONTRADICTED.
 */
export const enforceCheckpoint = async (
  { number, hash }: Checkpoint,
  { blocks, chain }: { readonly blocks: Pick<BlockStore, 'block'>; readonly chain: Pick<Chain, 'onCommitted'> },
  giveUp: (error: Error) => void,
): Promise<() => void> => {
  const contradicted = (found: Hex) =>
    new CodedError<CheckpointError>({ code: 'CHECKPOINT_CONTRADICTED', number, expected: hash, found })
  const stored = await blocks.block(number)
  if (stored !== undefined && stored.hash !== hash) throw contradicted(stored.hash)
  return chain.onCommitted(({ block }) => {
    if (block.header.number === number && block.hash !== hash) giveUp(contradicted(block.hash))
  })
}
