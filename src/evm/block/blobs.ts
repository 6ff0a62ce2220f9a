import { GAS_PER_BLOB } from '../../config/blobs.ts'
import type { DecodedTransaction } from '../../primitives/transaction.ts'
import { type BlobFields, blobGas } from '../../rules/ethereum/blob-fee.ts'
import type { BlobEnv, BlockEnv } from '../block-env.ts'
import type { InvalidReason } from '../executor-types.ts'
import type { BlockPosition } from './transaction-validity.ts'

/** First byte of the hash of a KZG commitment, the only kind there is (EIP-4844). */
const KZG_VERSION = '01'

/** What its blobs cost the sender, wei: burnt whole, whatever becomes of the message. */
export const blobFee = (tx: BlobFields, { blobs }: BlockEnv): bigint =>
  tx.blobVersionedHashes === undefined || blobs === undefined ? 0n : blobGas(tx) * blobs.baseFeePerGas

/** Whether the transaction's blobs may stand in this block (EIP-4844, 7594, 7691). */
export const checkBlobs = (at: BlockPosition, tx: DecodedTransaction): InvalidReason | undefined => {
  if (tx.type !== 3) return undefined
  const { blobs } = at.env
  if (blobs === undefined) return { code: 'UNSUPPORTED_TYPE', type: tx.type }
  const hashes = tx.blobVersionedHashes ?? []
  if (hashes.length === 0) return { code: 'NO_BLOBS' }
  const unknown = hashes.find(hash => !hash.startsWith(KZG_VERSION, 2))
  if (unknown !== undefined) return { code: 'BLOB_VERSION_UNKNOWN', hash: unknown }
  const limit = blobRoom(at, blobs)
  if (hashes.length > limit) return { code: 'TOO_MANY_BLOBS', have: hashes.length, limit }
  const have = tx.maxFeePerBlobGas ?? 0n
  const want = blobs.baseFeePerGas
  return have < want ? { code: 'BLOB_FEE_TOO_LOW', have, want } : undefined
}

/** How many blobs the next transaction of the block may carry. */
const blobRoom = ({ rules, blobGasUsed }: BlockPosition, { maxPerBlock }: BlobEnv): number => {
  const left = maxPerBlock - Number(blobGasUsed / GAS_PER_BLOB)
  const most = rules.blobsPerTransaction
  return most === null || left < most ? left : most
}
