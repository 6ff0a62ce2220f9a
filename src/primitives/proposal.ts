import { keccak256 } from '../crypto/hash.ts'
import { type Hex, bytesToHex, hexToBytes, ZERO_HASH } from '../util/bytes.ts'
import type { Block } from './block.ts'
import { encodeRlp, type RlpItem } from './rlp.ts'
import {
  bytesOf,
  fields,
  hashOf,
  listOf,
  malformed,
  numberOf,
  type Prepare,
  prepareFromRlp,
  type RoundChangePayload,
  rlpNumber,
  roundChangePayloadFromRlp,
  roundChangePayloadToRlp,
  type SigningDomain,
  signingDigest,
  voteToRlp,
} from './vote.ts'
import { LIMITS } from '../config/limits.ts'

/** Why a proposer of a round above 0 may propose what it proposes; both lists empty in round 0 (reference/consensus.md 1.3). */
export interface Justification {
  readonly roundChanges: readonly RoundChangePayload[]
  /** The quorum behind the highest prepared round; empty when nothing was prepared. */
  readonly prepares: readonly Prepare[]
}

/** A block offered for (number, round). The signature covers the block's hash and the hash of the justification. */
export interface Proposal extends Justification {
  readonly type: 'proposal'
  readonly number: number
  readonly round: number
  readonly block: Block
  readonly sender: number
  readonly signature: Uint8Array
}

/** A proposal whose block travels or is stored apart. */
export type ProposalHead = Omit<Proposal, 'block'> & { readonly blockHash: Hex }

/** Zero in round 0, else keccak256 of the RLP of the two lists. */
export const justificationHash = (round: number, justification: Justification): Hex =>
  round === 0 ? ZERO_HASH : bytesToHex(keccak256(encodeRlp(justificationItems(justification))))

const justificationItems = (justification: Justification): RlpItem[] => [
  justification.roundChanges.map(roundChangePayloadToRlp),
  justification.prepares.map(voteToRlp),
]

export const proposalDigest = (
  domain: SigningDomain,
  number: number,
  round: number,
  blockHash: Hex,
  justification: Justification,
): Uint8Array =>
  signingDigest(domain, 'proposal', number, round, [
    hexToBytes(blockHash),
    hexToBytes(justificationHash(round, justification)),
  ])

export const proposalHead = ({ block, ...rest }: Proposal): ProposalHead => ({ ...rest, blockHash: block.hash })

/** Puts a head and its block together; the caller has compared the hashes. */
export const proposalOf = ({ blockHash: _, ...rest }: ProposalHead, block: Block): Proposal => ({ ...rest, block })

export const proposalHeadToRlp = (head: ProposalHead): RlpItem => [
  rlpNumber(head.number),
  rlpNumber(head.round),
  hexToBytes(head.blockHash),
  rlpNumber(head.sender),
  head.signature,
  ...justificationItems(head),
]

export const proposalHeadFromRlp = (item: RlpItem): ProposalHead => {
  const items = fields(item, 7)
  return {
    type: 'proposal',
    number: numberOf(items[0]),
    round: numberOf(items[1]),
    blockHash: hashOf(items[2]),
    sender: numberOf(items[3], LIMITS.consensus.committee),
    signature: bytesOf(items[4], 65),
    roundChanges: listOf(items[5]).map(roundChangePayloadFromRlp),
    prepares: listOf(items[6]).map(prepareFromRlp),
  }
}

export const assertHash = (head: ProposalHead, block: Block): void => {
  if (head.blockHash !== block.hash) throw malformed('block hash')
}
