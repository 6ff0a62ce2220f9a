import { type ConsensusMessage, type Decided, numberOfMessage, type Status } from '../consensus/messages.ts'
import { type Block, decodeBlock, encodeBlock } from '../primitives/block.ts'
import { decodeCertificate, encodeCertificate } from '../primitives/certificate.ts'
import { malformed } from '../primitives/malformed.ts'
import { decodeProposalHead, encodeProposalHead, type Proposal, proposalHead } from '../primitives/proposal.ts'
import { decodeVote, encodeVote } from '../primitives/vote.ts'
import { isCoded } from '../util/errors.ts'

/** A message as bytes. A status is nobody's signed word and has no codec of consensus: it passes as it is. */
export type Frame =
  | { readonly type: 'vote' | 'body'; readonly parts: readonly [Uint8Array] }
  | { readonly type: 'proposal' | 'decided'; readonly parts: readonly [head: Uint8Array, block: Uint8Array] }
  | { readonly type: 'status'; readonly status: Status }

const frames = new WeakMap<ConsensusMessage, Frame>()
const messages = new WeakMap<Frame, ConsensusMessage>()

/** The same message said again is the same frame. */
export const encodeFrame = (message: ConsensusMessage): Frame => {
  const known = frames.get(message)
  if (known !== undefined) return known
  const frame = frameOf(message)
  frames.set(message, frame)
  return frame
}

const frameOf = (message: ConsensusMessage): Frame => {
  switch (message.type) {
    case 'status':
      return { type: 'status', status: message }
    case 'body':
      return { type: 'body', parts: [encodeBlock(message.block)] }
    case 'decided':
      return { type: 'decided', parts: [encodeCertificate(message.certificate), encodeBlock(message.block)] }
    case 'proposal':
      return { type: 'proposal', parts: [encodeProposalHead(proposalHead(message)), encodeBlock(message.block)] }
    default:
      return { type: 'vote', parts: [encodeVote(message)] }
  }
}

/** undefined: malformed, and said so by a CodedError. Whoever hears the same frame reads the same message. */
export const decodeFrame = (frame: Frame): ConsensusMessage | undefined => {
  const known = messages.get(frame)
  if (known !== undefined) return known
  try {
    const message = messageOf(frame)
    messages.set(frame, message)
    return message
  } catch (error) {
    if (isCoded(error)) return undefined
    throw error
  }
}

const messageOf = (frame: Frame): ConsensusMessage => {
  switch (frame.type) {
    case 'status':
      return frame.status
    case 'vote':
      return decodeVote(frame.parts[0])
    case 'body':
      return { type: 'body', block: readBlock(frame.parts[0]) }
    case 'decided':
      return { type: 'decided', certificate: decodeCertificate(frame.parts[0]), block: readBlock(frame.parts[1]) }
    case 'proposal':
      return proposalOf(frame.parts)
  }
}

const proposalOf = ([head, body]: readonly [Uint8Array, Uint8Array]): Proposal => {
  const { blockHash, ...signed } = decodeProposalHead(head)
  const block = readBlock(body)
  if (block.hash !== blockHash) throw malformed('PROPOSAL_MALFORMED', 'the block of another proposal')
  return { ...signed, block }
}

/** Simulated blocks have no transactions, so there are no senders to recover. */
export const readBlock = (bytes: Uint8Array): Block => {
  const block = decodeBlock(bytes)
  if (block.transactions.length > 0) throw malformed('BLOCK_MALFORMED', 'simulated blocks are empty')
  return { ...block, transactions: [] }
}

/** One line for a person: what it says, and where. */
export const describeMessage = (message: ConsensusMessage): string => {
  const number = numberOfMessage(message)
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

const describeDecided = ({ block, certificate }: Decided): string =>
  `decision ${block.header.number} for ${short(block.hash)} in round ${certificate.round}`

export const short = (hash: string): string => hash.slice(2, 8)
