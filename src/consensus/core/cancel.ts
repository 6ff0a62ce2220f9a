import type { Hex } from '../../util/bytes.ts'
import type { HeightState, StepContext } from './types.ts'

/*
 * Work that the shell has begun and whose result is of no use any more. A proposal that takes long must hold up neither the next
 * proposers nor the validation of their blocks.
 */

/**
 * Whether a verdict is still waited for. Leaving its round ends the validation of a fresh block: if others prepared it, it is proposed
 * again, with more time. A block proposed again, which a quorum has prepared, goes on through all rounds: one that a slow member cannot
 * validate within any of them must be decided all the same.
 */
const isAwaited = ({ round, proposals, decided }: HeightState, blockHash: Hex): boolean => {
  if (decided !== null) return decided.block.hash === blockHash
  for (const proposal of proposals.values()) {
    if (proposal.block.hash === blockHash && (proposal.round >= round || proposal.prepares.length > 0)) return true
  }
  return false
}

/** To be called when a round is entered or the height is decided. */
export const cancelUnawaited = ({ height, out }: StepContext): void => {
  const { building, verdicts, round, decided } = height
  if (building !== null && (decided !== null || building.round < round)) {
    height.building = null
    out.push({ type: 'cancelBuild' })
  }
  for (const [blockHash, verdict] of verdicts) {
    if (verdict !== 'pending' || isAwaited(height, blockHash)) continue
    verdicts.delete(blockHash)
    out.push({ type: 'cancelValidation', blockHash })
  }
}
