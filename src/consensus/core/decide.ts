import type { Hex } from '@tandem/base/bytes.ts'
import type { Block } from '../../primitives/block.ts'
import type { Certificate } from '../../primitives/consensus/certificate.ts'
import { certificateFromCommits } from '../certificate.ts'
import { cancelUnawaited } from './cancel.ts'
import { persist, persistBlock } from './effects.ts'
import { requestBody } from './status.ts'
import type { StepContext } from './types.ts'

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
