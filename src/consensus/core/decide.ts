import type { Block } from '../../primitives/block.ts'
import type { Certificate } from '../../primitives/consensus/certificate.ts'
import type { Hex } from '../../util/bytes.ts'
import { certificateFrom } from '../certificate.ts'
import { cancelUnawaited } from './cancel.ts'
import { persist, persistBlock } from './effects.ts'
import { broadcastStatus } from './status.ts'
import type { Turn } from './types.ts'

/** Decides when a quorum committed one block in one round, whichever round of the height that is, and the body is here. */
export const tryDecide = (turn: Turn, round: number, blockHash: Hex): void => {
  const { height } = turn
  if (height.decided !== null || height.commits.count(round, blockHash) < height.quorum) return
  const block = height.blocks.get(blockHash)
  if (block !== undefined) {
    decide(turn, block, certificateFrom(round, height.config.members.length, height.commits.votesFor(round, blockHash)))
    return
  }
  if (height.wanted === blockHash) return
  height.wanted = blockHash
  broadcastStatus(turn)
}

/** The height is over: logged, then committed by the shell. */
export const decide = (turn: Turn, block: Block, certificate: Certificate): void => {
  turn.height.decided = { block, certificate }
  cancelUnawaited(turn)
  persistBlock(turn, block)
  persist(turn, { type: 'decided', block, certificate })
  turn.out.push({ type: 'decide', block, certificate })
}
