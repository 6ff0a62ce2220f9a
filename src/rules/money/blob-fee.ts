import { type BlobParams, GAS_PER_BLOB } from '../../config/forks.ts'
import type { DecodedTransaction } from '../../primitives/transaction/transaction.ts'

/** Smallest price of blob gas, wei per unit (EIP-4844). */
const MIN_BLOB_BASE_FEE = 1n
/** e^177 is the last power below 2^256: above it the price exceeds any balance and is not computed. */
const MAX_EXPONENT = 177n
const MAX_PRICE = 2n ** 256n - 1n

/** Price of blob gas, wei per unit, at an excess: e^(excess / fraction) by its series, in integers (EIP-4844). */
export const blobBaseFee = (excessBlobGas: bigint, { baseFeeUpdateFraction }: BlobParams): bigint => {
  if (excessBlobGas > MAX_EXPONENT * baseFeeUpdateFraction) return MAX_PRICE
  let term = MIN_BLOB_BASE_FEE * baseFeeUpdateFraction
  let sum = 0n
  for (let i = 1n; term > 0n; i++) {
    sum += term
    term = (term * excessBlobGas) / (baseFeeUpdateFraction * i)
  }
  return sum / baseFeeUpdateFraction
}

/** Blob fields of a transaction that determine its blob cost. */
export type BlobFields = Pick<DecodedTransaction, 'blobVersionedHashes' | 'maxFeePerBlobGas'>

/** Blob gas of a transaction; 0n without blobs. */
export const blobGas = ({ blobVersionedHashes }: BlobFields): bigint =>
  blobVersionedHashes === undefined ? 0n : GAS_PER_BLOB * BigInt(blobVersionedHashes.length)

/** Blob gas of a block. */
export const blobGasUsed = (transactions: readonly BlobFields[]): bigint =>
  transactions.reduce((sum, tx) => sum + blobGas(tx), 0n)

/** Wei the sender must be able to pay for its blobs. */
export const maxBlobFee = (tx: BlobFields): bigint =>
  tx.blobVersionedHashes === undefined ? 0n : blobGas(tx) * (tx.maxFeePerBlobGas ?? 0n)
