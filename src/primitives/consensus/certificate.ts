import { assert } from '@tandem/base/assert.ts'
import { CONSENSUS_BOUNDS } from '../../config/protocol-bounds.ts'
import { decodeOrMalformed, malformed } from '../rlp/malformed.ts'
import { encodeRlp, type RlpItem, uintItem } from '../rlp/rlp.ts'
import { type RlpCursor, readWhole } from '../rlp/rlp-cursor.ts'

/** Commit signatures of a quorum for one block: signers (bit i of byte i>>3 = committee index i) and 65-byte seals in index order. */
export interface Certificate {
  readonly round: number
  readonly bitmap: Uint8Array
  readonly seals: readonly Uint8Array[]
}

const SEAL_BYTES = 65
const MAX_BITMAP_BYTES = Math.ceil(CONSENSUS_BOUNDS.committee / 8)

/** Builds a certificate from seals by committee index; `committeeSize` sets the bitmap's length. */
export const certificateFromSigners = (
  round: number,
  committeeSize: number,
  sealOf: ReadonlyMap<number, Uint8Array>,
): Certificate => {
  const bitmap = new Uint8Array(Math.ceil(committeeSize / 8))
  const indexes = [...sealOf.keys()].sort((a, b) => a - b)
  for (const index of indexes) {
    assert(index >= 0 && index < committeeSize, 'a signer is a member of the committee')
    bitmap[index >> 3] = (bitmap[index >> 3] as number) | (1 << (index & 7))
  }
  return { round, bitmap, seals: indexes.map(index => sealOf.get(index) as Uint8Array) }
}

/** Committee indexes of the signers, ascending: `seals[i]` belongs to the i-th of them. */
export const signerIndexes = (certificate: Certificate): readonly number[] => {
  const indexes: number[] = []
  certificate.bitmap.forEach((byte, at) => {
    for (let bit = 0; bit < 8; bit++) if (byte & (1 << bit)) indexes.push(at * 8 + bit)
  })
  return indexes
}

export const certificateItem = (certificate: Certificate): readonly RlpItem[] => [
  uintItem(certificate.round),
  certificate.bitmap,
  certificate.seals,
]

export const encodeCertificate = (certificate: Certificate): Uint8Array => encodeRlp(certificateItem(certificate))

/** Throws CERTIFICATE_MALFORMED. Consensus verifies the seals and the quorum. */
export const decodeCertificate = (bytes: Uint8Array): Certificate =>
  decodeOrMalformed('CERTIFICATE_MALFORMED', () => readWhole(bytes, readCertificate))

/** Reads one certificate at the cursor; one seal per set bit. Throws RLP_INVALID or CERTIFICATE_MALFORMED. */
export const readCertificate = (cursor: RlpCursor): Certificate => {
  const certificate = cursor.list(() => ({
    round: cursor.safeUint(),
    bitmap: cursor.boundedBytes(MAX_BITMAP_BYTES),
    seals: cursor.items(readSeal),
  }))
  const [signers, seals] = [signerIndexes(certificate).length, certificate.seals.length]
  if (signers !== seals) throw malformed('CERTIFICATE_MALFORMED', `${seals} seals for ${signers} signers`)
  return certificate
}

const readSeal = (cursor: RlpCursor): Uint8Array => {
  const seal = cursor.bytes()
  if (seal.byteLength === SEAL_BYTES) return seal
  throw malformed('CERTIFICATE_MALFORMED', `a seal has ${seal.byteLength} bytes, want ${SEAL_BYTES}`)
}
