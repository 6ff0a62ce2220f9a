import { CONSENSUS_BOUNDS } from '../../config/protocol-bounds.ts'
import { bodyCodec, proposalCodec, sealedCodec, statusCodec, voteCodec } from '../wire/consensus.ts'
import { declareMessage, quota } from './message-spec.ts'

/** Messages of the committee: votes and proposals. */
export const CONSENSUS_MESSAGES = {
  vote: declareMessage({
    id: 16,
    channel: 'votes',
    maxBytes: CONSENSUS_BOUNDS.voteBytes,
    // Eight for each member of the largest committee (docs/design/network.md#limits).
    quota: quota(8 * CONSENSUS_BOUNDS.committee, 32 * CONSENSUS_BOUNDS.committee),
    codec: voteCodec,
    from: 'committee',
    summary: 'Prepare, commit or round change',
  }),
  status: declareMessage({
    id: 17,
    channel: 'votes',
    maxBytes: 128,
    quota: quota(100, 400),
    codec: statusCodec,
    from: 'committee',
    summary: 'Messages the sender has of its open height, and the block it lacks',
  }),
  proposal: declareMessage({
    id: 32,
    channel: 'proposals',
    maxBytes: CONSENSUS_BOUNDS.proposalBytes,
    quota: quota(200, 800),
    codec: proposalCodec,
    from: 'committee',
    summary: 'A block offered for a round, with its justification',
  }),
  body: declareMessage({
    id: 33,
    channel: 'proposals',
    maxBytes: CONSENSUS_BOUNDS.proposalBytes,
    quota: quota(100, 400),
    codec: bodyCodec,
    from: 'committee',
    summary: 'Block requested by a status',
  }),
  decided: declareMessage({
    id: 34,
    channel: 'proposals',
    maxBytes: CONSENSUS_BOUNDS.proposalBytes,
    quota: quota(200, 800),
    codec: sealedCodec,
    from: 'committee',
    summary: 'A finished height, for a member that is behind',
  }),
} as const
