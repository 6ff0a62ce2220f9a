import type { Status } from '../../primitives/consensus/message.ts'
import type { Proposal } from '../../primitives/consensus/proposal.ts'
import type { Prepare, RoundChange } from '../../primitives/consensus/vote.ts'
import type { Liar, OpenHeight } from './byzantine-node.ts'

/** One way to lie: what it does when it hears something. */
export interface Script {
  onHeight?(liar: Liar, height: OpenHeight): void
  onProposal?(liar: Liar, proposal: Proposal): void
  onPrepare?(liar: Liar, prepare: Prepare): void
  onRoundChange?(liar: Liar, change: RoundChange): void
  onStatus?(liar: Liar, status: Status): void
}
