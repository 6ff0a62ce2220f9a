import type { Hex } from '@tandem/base/bytes.ts'
import { isLowS } from '../crypto/signature.ts'
import { type Certificate, certificateFromSigners, signerIndexes } from '../primitives/consensus/certificate.ts'
import { blockVoteDigest, type Commit, type SigningDomain } from '../primitives/consensus/vote.ts'
import { quorumOf } from '../rules/council/quorum.ts'
import type { Committee } from './committee.ts'

/** Recovers the address that signed a digest (65-byte signature); undefined when the signature is invalid. */
export type RecoverAddress = (digest: Uint8Array, signature: Uint8Array) => Hex | undefined

export type CertificateFault = 'NO_QUORUM' | 'BITMAP_LENGTH' | 'SIGNER_OUTSIDE' | 'SEAL_COUNT' | 'SEAL_INVALID'

/** Builds the certificate from commits of one round for one block, at most one per sender. */
export const certificateFromCommits = (round: number, committeeSize: number, commits: readonly Commit[]): Certificate =>
  certificateFromSigners(round, committeeSize, new Map(commits.map(commit => [commit.sender, commit.signature])))

/** Converts the seals of a certificate back to commits. */
export const commitsFromCertificate = (
  certificate: Certificate,
  { number, blockHash }: CertificateSubject,
): readonly Commit[] =>
  signerIndexes(certificate).map((sender, at) => ({
    type: 'commit',
    number,
    round: certificate.round,
    blockHash,
    sender,
    signature: certificate.seals[at] as Uint8Array,
  }))

/** Block that a certificate is about. */
export interface CertificateSubject {
  readonly number: number
  readonly blockHash: Hex
}

/** Seal with the digest and the signer it must belong to. */
interface SealCheck {
  readonly digest: Uint8Array
  readonly seal: Uint8Array
  readonly signer: Hex
}

/**
 * Returns null when a quorum of the committee sealed this block at this height, else the fault. Bitmap bits name members, so no member
 * counts twice; each seal must be that member's signature over chain, height, the certificate's round and the block.
 */
export const certificateFault = (
  certificate: Certificate,
  certificateSubject: CertificateSubject,
  committee: Committee,
  domain: SigningDomain,
  recover: RecoverAddress,
): CertificateFault | null => {
  const shape = shapeFault(certificate, committee)
  if (shape !== null) return shape
  return sealChecks(certificate, certificateSubject, committee, domain).every(check => isSealed(check, recover))
    ? null
    : 'SEAL_INVALID'
}

export const isSealed = ({ digest, seal, signer }: SealCheck, recover: RecoverAddress): boolean =>
  recover(digest, seal) === signer

/** Returns the seals to check of a certificate of valid shape. */
export const sealChecks = (
  certificate: Certificate,
  certificateSubject: CertificateSubject,
  committee: Committee,
  domain: SigningDomain,
): readonly SealCheck[] => {
  const digest = blockVoteDigest(domain, { type: 'commit', ...certificateSubject, round: certificate.round })
  return signerIndexes(certificate).map((index, at) => ({
    digest,
    seal: certificate.seals[at] as Uint8Array,
    signer: committee.members[index] as Hex,
  }))
}

/** Checks that are cheap, before any signature is recovered. */
export const shapeFault = (certificate: Certificate, committee: Committee): CertificateFault | null => {
  const size = committee.members.length
  if (certificate.bitmap.byteLength !== Math.ceil(size / 8)) return 'BITMAP_LENGTH'
  const signers = signerIndexes(certificate)
  if (signers.some(index => index >= size)) return 'SIGNER_OUTSIDE'
  if (signers.length !== certificate.seals.length) return 'SEAL_COUNT'
  return signers.length >= quorumOf(size) ? null : 'NO_QUORUM'
}

/** Accepts only the low-s form of a signature: otherwise a relay could make a second valid form of it. */
export const rejectHighS =
  (recover: RecoverAddress): RecoverAddress =>
  (digest, signature) =>
    isLowS(signature.subarray(32, 64)) ? recover(digest, signature) : undefined
