import { asBuffer, type Hex } from '@tandem/base/bytes.ts'
import type { Certificate } from '../../primitives/consensus/certificate.ts'
import type { SignedHead } from '../../primitives/consensus/message.ts'
import type { SigningDomain } from '../../primitives/consensus/vote.ts'
import { type CertificateSubject, certificateFault, type RecoverAddress, rejectHighS } from '../certificate.ts'
import type { Committee } from '../committee.ts'
import {
  claimFromProposal,
  type SignatureCheck,
  statementDigest,
  statementsFromMessage,
} from '../evidence/statement.ts'

/** `badProof`: the sender signed the message, but an attached proof has an invalid signature. */
type SignatureResult = 'signed' | 'badProof' | 'unsigned'

/** Verifies signatures before a message reaches the core. */
export type SignatureVerifier = ReturnType<typeof createSignatureVerifier>

export const createSignatureVerifier = (domain: SigningDomain, recover: RecoverAddress, cachedSignatures: number) => {
  const cached = cacheOf(recover, cachedSignatures)
  const isSigned: SignatureCheck = (signed, committee) => {
    const member = committee.members[signed.sender]
    if (member === undefined) return false
    const statement = 'roundChanges' in signed ? claimFromProposal(signed) : signed
    return cached(statementDigest(domain, statement), signed.signature) === member
  }
  return {
    isSigned,
    recover: cached,
    /** Verifies the sender's signature and those of all attached proofs. */
    verify: (message: SignedHead, committee: Committee): SignatureResult => {
      if (!isPlausible(message, committee)) return 'unsigned'
      const [own, ...proof] = statementsFromMessage(message)
      if (own === undefined || !isSigned(own, committee)) return 'unsigned'
      return proof.every(statement => isSigned(statement, committee)) ? 'signed' : 'badProof'
    },
    /** Returns true when a quorum of the committee sealed a block. */
    isDecided: (
      { number, blockHash, certificate }: CertificateSubject & { readonly certificate: Certificate },
      committee: Committee,
    ): boolean => certificateFault(certificate, { number, blockHash }, committee, domain, cached) === null,
  }
}

/** Checks lengths first, so members bound the recoveries. Round 0 carries no proof: its signature would not cover one. */
const isPlausible = (message: SignedHead, committee: Committee): boolean => {
  const size = committee.members.length
  if (message.type === 'roundChange') return message.prepares.length <= size
  if (message.type !== 'proposal') return true
  const limit = message.round === 0 ? 0 : size
  return message.roundChanges.length <= limit && message.prepares.length <= limit
}

/** Cache of recoveries: the same signatures appear again in round changes, justifications and certificates. */
const cacheOf = (recover: RecoverAddress, limit: number): RecoverAddress => {
  const recoverStrictly = rejectHighS(recover)
  const known = new Map<string, Hex | undefined>()
  return (digest, signature) => {
    const key = asBuffer(digest).toString('latin1') + asBuffer(signature).toString('latin1')
    if (known.has(key)) return known.get(key)
    const address = recoverStrictly(digest, signature)
    if (known.size >= limit) known.clear()
    known.set(key, address)
    return address
  }
}
