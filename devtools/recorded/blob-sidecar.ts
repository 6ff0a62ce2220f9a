import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { sha256 } from '../../src/crypto/sha256.ts'
import { decodeOrMalformed, malformed } from '../../src/primitives/rlp/malformed.ts'
import { RlpCursor } from '../../src/primitives/rlp/rlp-cursor.ts'
import { decodeTransaction } from '../../src/primitives/transaction/transaction.ts'

const BLOB_TYPE = 3
const BLOB_BYTES = 131_072
/** Size of a commitment or a proof: a compressed point of G1. */
const POINT_BYTES = 48
/** Cells of an extended blob, each with its own proof (EIP-7594). */
const CELLS_PER_BLOB = 128
const KZG_VERSION = 1

/** Form of a sidecar: one proof per blob (EIP-4844), or one per cell (EIP-7594). */
export type SidecarVersion = 0 | 1

const refuse = (reason: string) => malformed('TRANSACTION_MALFORMED', reason)

/**
 * Returns the transaction inside the network form of a blob transaction: its list, blobs, commitments and proofs. Other transactions
 * are returned unchanged. Checks shape and that the commitments match the transaction's hashes; proofs are not verified, which would
 * need the points of the trusted setup. Throws TRANSACTION_MALFORMED.
 */
export const stripBlobSidecar = (bytes: Uint8Array, wanted: SidecarVersion): Uint8Array => {
  if (bytes[0] !== BLOB_TYPE) return bytes
  return decodeOrMalformed('TRANSACTION_MALFORMED', () => {
    const cursor = new RlpCursor(bytes, 1)
    const outer = cursor.openList()
    if (!cursor.nextIsList()) throw refuse('missing sidecar in blob transaction')
    const raw = typed(cursor.raw())
    const version = cursor.nextIsList() ? 0 : cursor.safeUint()
    if (version !== wanted) throw refuse(`blob sidecar of version ${version}, want ${wanted}`)
    const hashes = decodeTransaction(raw).blobVersionedHashes ?? []
    const blobs = pointsOf(cursor, BLOB_BYTES, hashes.length, 'blobs')
    const commitments = pointsOf(cursor, POINT_BYTES, hashes.length, 'commitments')
    const proofs = hashes.length * (version === 0 ? 1 : CELLS_PER_BLOB)
    pointsOf(cursor, POINT_BYTES, proofs, 'proofs')
    cursor.closeList(outer)
    cursor.finish()
    blobs.forEach((_, index) => {
      if (versionedHash(commitments[index] as Uint8Array) !== hashes[index])
        throw refuse(`blob ${index}: the commitment is not the one that the transaction names`)
    })
    return raw
  })
}

/** Canonical form: type byte and list. */
const typed = (list: Uint8Array): Uint8Array => {
  const raw = new Uint8Array(1 + list.byteLength)
  raw[0] = BLOB_TYPE
  raw.set(list, 1)
  return raw
}

const pointsOf = (cursor: RlpCursor, size: number, count: number, what: string): readonly Uint8Array[] => {
  const outer = cursor.openList()
  const items: Uint8Array[] = []
  while (cursor.hasMore() && items.length < count) {
    const item = cursor.boundedBytes(size)
    if (item.byteLength !== size) throw refuse(`${what} of a blob sidecar have ${size} bytes`)
    items.push(item)
  }
  if (items.length !== count || cursor.hasMore()) throw refuse(`want ${count} ${what} in the blob sidecar`)
  cursor.closeList(outer)
  return items
}

/** Versioned hash of a commitment in a transaction (EIP-4844). */
const versionedHash = (commitment: Uint8Array): Hex => {
  const hash = sha256(commitment)
  hash[0] = KZG_VERSION
  return bytesToHex(hash)
}
