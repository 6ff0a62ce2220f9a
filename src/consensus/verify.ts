import { isLowS } from '../crypto/signature.ts'
import type { SigningDomain } from '../primitives/vote.ts'
import { asBuffer, type Hex } from '../util/bytes.ts'
import { certificateFault, type Recover } from './certificate.ts'
import type { Committee } from './committee.ts'
import type { Decided, SignedMessage } from './messages.ts'
import { digestOf } from './signing.ts'

/** Checks who signed what, before anything comes near the core. */
export interface Verifier {
  /** The sender's signature, and those of all it carries as proof. */
  isSigned(message: SignedMessage, committee: Committee): boolean
  isDecided(message: Decided, committee: Committee): boolean
  readonly recover: Recover
}

export const createVerifier = (domain: SigningDomain, recover: Recover, cachedSignatures: number): Verifier => {
  const cached = cacheOf(recover, cachedSignatures)
  const signedBy = (message: SignedMessage | Attachment, committee: Committee): boolean =>
    committee.members[message.sender] !== undefined &&
    cached(digestOf(domain, withoutProof(message)), message.signature) === committee.members[message.sender]
  return {
    recover: cached,
    isSigned: (message, committee) =>
      isPlausible(message, committee) &&
      signedBy(message, committee) &&
      attachmentsOf(message).every(attachment => signedBy(attachment, committee)),
    isDecided: ({ block, certificate }, committee) => {
      const sealed = { number: block.header.number, blockHash: block.hash }
      return certificateFault(certificate, sealed, committee, domain, cached) === null
    },
  }
}

type Attachment =
  | Extract<SignedMessage, { type: 'proposal' }>['roundChanges'][number]
  | Extract<SignedMessage, { type: 'prepare' }>

/** A payload's digest needs no proof; the types of whole messages do. */
const withoutProof = (message: SignedMessage | Attachment): SignedMessage =>
  message.type === 'roundChange' && !('prepares' in message) ? { ...message, prepares: [] } : (message as SignedMessage)

const attachmentsOf = (message: SignedMessage): readonly Attachment[] => {
  if (message.type === 'proposal') return [...message.roundChanges, ...message.prepares]
  return message.type === 'roundChange' ? message.prepares : []
}

/** Lengths first: no more recoveries than members can have signed. */
const isPlausible = (message: SignedMessage, committee: Committee): boolean => {
  const size = committee.members.length
  if (message.type === 'proposal') return message.roundChanges.length <= size && message.prepares.length <= size
  return message.type !== 'roundChange' || message.prepares.length <= size
}

/** The same signatures come again in round changes, justifications and certificates. */
const cacheOf = (recover: Recover, limit: number): Recover => {
  const known = new Map<string, Hex | undefined>()
  return (digest, signature) => {
    const key = asBuffer(digest).toString('latin1') + asBuffer(signature).toString('latin1')
    if (known.has(key)) return known.get(key)
    // One signature has one form: with the upper half of s allowed, anybody could make a second one.
    const address = isLowS(signature.subarray(32, 64)) ? recover(digest, signature) : undefined
    if (known.size >= limit) known.clear()
    known.set(key, address)
    return address
  }
}
