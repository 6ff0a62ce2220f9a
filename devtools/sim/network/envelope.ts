import { undefinedIfCoded } from '@tandem/base/errors.ts'
import {
  bodyCodec,
  proposalCodec,
  sealedCodec,
  statusCodec,
  voteCodec,
} from '../../../src/network/messages/consensus-messages.ts'
import { type Block, decodeBlock, encodeBlock } from '../../../src/primitives/block.ts'
import type { BlockClaim } from '../../../src/primitives/consensus/message.ts'
import { type ConsensusMessage, type DecidedMessage, messageHeight } from '../../../src/primitives/consensus/message.ts'
import { type Proposal, proposalHead } from '../../../src/primitives/consensus/proposal.ts'
import { malformed } from '../../../src/primitives/rlp/malformed.ts'

/** Message as sent between nodes: its kind, and the bytes of that kind's codec. */
export interface Envelope {
  readonly type: 'vote' | 'proposal' | 'body' | 'decided' | 'status'
  readonly bytes: Uint8Array
}

const frames = new WeakMap<ConsensusMessage, Envelope>()
const messages = new WeakMap<Envelope, ConsensusMessage>()

/** A repeated message has the same frame. */
export const encodeEnvelope = (message: ConsensusMessage): Envelope => {
  const known = frames.get(message)
  if (known !== undefined) return known
  const envelope = frameOf(message)
  frames.set(message, envelope)
  return envelope
}

const frameOf = (message: ConsensusMessage): Envelope => {
  switch (message.type) {
    case 'status':
      return { type: 'status', bytes: statusCodec.encode(message) }
    case 'body':
      return { type: 'body', bytes: bodyCodec.encode(encodeBlock(message.block)) }
    case 'decided': {
      const { block, certificate } = message
      return { type: 'decided', bytes: sealedCodec.encode({ block: encodeBlock(block), certificate }) }
    }
    case 'proposal': {
      const block = encodeBlock(message.block)
      return { type: 'proposal', bytes: proposalCodec.encode({ head: proposalHead(message), block }) }
    }
    default:
      return { type: 'vote', bytes: voteCodec.encode(message) }
  }
}

/**
 * Decodes a frame; undefined when malformed, reported by a CodedError. Every receiver of a frame gets the same message
 * object.
 */
export const decodeEnvelope = (envelope: Envelope): ConsensusMessage | undefined => {
  const known = messages.get(envelope)
  if (known !== undefined) return known
  const message = undefinedIfCoded(() => messageOf(envelope))
  if (message !== undefined) messages.set(envelope, message)
  return message
}

const messageOf = ({ type, bytes }: Envelope): ConsensusMessage => {
  switch (type) {
    case 'status':
      return statusCodec.decode(bytes)
    case 'vote':
      return voteCodec.decode(bytes)
    case 'body':
      return { type: 'body', block: readBlock(bodyCodec.decode(bytes)) }
    case 'decided': {
      const { block, certificate } = sealedCodec.decode(bytes)
      return { type: 'decided', block: readBlock(block), certificate }
    }
    case 'proposal':
      return proposalOf(bytes)
  }
}

const proposalOf = (bytes: Uint8Array): Proposal => {
  const { head, block } = proposalCodec.decode(bytes)
  const { blockHash, ...signed } = head
  const body = readBlock(block)
  if (body.hash !== blockHash) throw malformed('PROPOSAL_MALFORMED', 'the block of another proposal')
  return { ...signed, block: body }
}

/** Simulated blocks have no transactions, so there are no senders to recover. */
export const readBlock = (bytes: Uint8Array): Block => {
  const block = decodeBlock(bytes)
  if (block.transactions.length > 0) throw malformed('BLOCK_MALFORMED', 'simulated blocks are empty')
  return { ...block, transactions: [] }
}

/** Returns the claim of a message about its block before the block is decoded; undefined without a block. */
export const claimOf = (message: ConsensusMessage): BlockClaim | undefined => {
  switch (message.type) {
    case 'proposal':
      return { type: 'proposal', head: proposalHead(message) }
    case 'body':
      return { type: 'body', blockHash: message.block.hash }
    case 'decided': {
      const { block, certificate } = message
      return { type: 'decided', number: block.header.number, blockHash: block.hash, certificate }
    }
    default:
      return undefined
  }
}

/** Returns one line for people: the content and position of a message. */
export const describeMessage = (message: ConsensusMessage): string => {
  const number = messageHeight(message)
  switch (message.type) {
    case 'status':
      return `status of height ${number} round ${message.round}`
    case 'body':
      return `body ${short(message.block.hash)} of height ${number}`
    case 'decided':
      return describeDecided(message)
    case 'roundChange': {
      const { prepared } = message
      const claim = prepared === null ? 'nothing' : `${short(prepared.blockHash)} of round ${prepared.round}`
      return `round change to ${number}/${message.round}, prepared ${claim}`
    }
    case 'proposal':
      return `proposal ${number}/${message.round} of ${short(message.block.hash)}`
    default:
      return `${message.type} ${number}/${message.round} for ${short(message.blockHash)}`
  }
}

const describeDecided = ({ block, certificate }: DecidedMessage): string =>
  `decision ${block.header.number} for ${short(block.hash)} in round ${certificate.round}`

export const short = (hash: string): string => hash.slice(2, 8)
