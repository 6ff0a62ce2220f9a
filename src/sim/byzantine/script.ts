import type { StatusMessage } from '../../primitives/consensus/message.ts'
import type { Proposal } from '../../primitives/consensus/proposal.ts'
import type { Prepare, RoundChange } from '../../primitives/consensus/vote.ts'
import type { ByzantineNode, OpenHeight } from './byzantine-node.ts'

/** Byzantine behaviour: reactions to received messages. */
export interface Script {
  onHeight?(byzantineNode: ByzantineNode, height: OpenHeight): void
  onProposal?(byzantineNode: ByzantineNode, proposal: Proposal): void
  onPrepare?(byzantineNode: ByzantineNode, prepare: Prepare): void
  onRoundChange?(byzantineNode: ByzantineNode, change: RoundChange): void
  onStatus?(byzantineNode: ByzantineNode, statusMessage: StatusMessage): void
}
