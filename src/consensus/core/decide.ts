import type { Hex } from '@tandem/base/bytes.ts'
import type { Block } from '../../primitives/block.ts'
import type { Certificate } from '../../primitives/consensus/certificate.ts'
import { certificateFromCommits } from '../certificate.ts'
import { persist, persistBlock } from './effects.ts'
import { requestBody } from './status.ts'
import type { HeightState, StepContext } from './types.ts'

/** Decides when a quorum committed one block in one round, in any round of the height, and the body is known. */
export const tryDecide = (ctx: StepContext, round: number, blockHash: Hex): void => {
  const { height } = ctx
  if (height.decided !== null || height.commits.count(round, blockHash) < height.quorum) return
  const block = height.blocks.get(blockHash)
  if (block !== undefined) {
    decide(
      ctx,
      block,
      certificateFromCommits(round, height.config.members.length, height.commits.votesFor(round, blockHash)),
    )
    return
  }
  requestBody(ctx, blockHash)
}

/** Ends the height: the decision is logged, then committed by the shell. */
export const decide = (ctx: StepContext, block: Block, certificate: Certificate): void => {
  ctx.height.decided = { block, certificate }
  cancelUnawaited(ctx)
  persistBlock(ctx, block)
  persist(ctx, { type: 'decided', block, certificate })
  ctx.out.push({ type: 'decide', block, certificate })
}

/* Cancels builds and validations no longer needed: a slow proposal must not delay the next proposers or their blocks. */

/**
 * Returns true while a verdict is needed. Leaving the round of a fresh block ends its validation: if others prepared it, it is proposed
 * again, with more time. A reproposed block, which a quorum has prepared, is validated through all rounds: a block that a slow member
 * cannot validate within any one round must still be decided.
 */
const isAwaited = ({ round, proposals, decided }: HeightState, blockHash: Hex): boolean => {
  if (decided !== null) return decided.block.hash === blockHash
  for (const proposal of proposals.values()) {
    if (proposal.block.hash === blockHash && (proposal.round >= round || proposal.prepares.length > 0)) return true
  }
  return false
}

/** Called when a round is entered or the height is decided. */
export const cancelUnawaited = ({ height, out }: StepContext): void => {
  const { building, verdicts, round, decided } = height
  if (building !== null && (decided !== null || building.round < round)) {
    height.building = null
    out.push({ type: 'cancelBuild' })
  }
  for (const [blockHash, verdict] of verdicts) {
    if (typeof verdict === 'string' || isAwaited(height, blockHash)) continue
    verdicts.delete(blockHash)
    out.push({ type: 'cancelValidation', blockHash })
  }
}
