import { EMPTY_BYTES, type Hex, hexToBytes, trimZeros } from '@tandem/base/bytes.ts'
import { encodeRlp, type RlpItem, uintItem } from '../rlp/rlp.ts'
import { type DecodedTransaction, decodeTransaction } from './transaction.ts'

/** Fields set by the sender before signing. */
export type UnsignedTransaction = Omit<DecodedTransaction, 'v' | 'r' | 's' | 'raw'>

/** `r` and `s` big-endian, padded or not. */
export interface TransactionSignature {
  readonly yParity: 0 | 1
  readonly r: Uint8Array
  readonly s: Uint8Array
}

/** Bytes whose keccak256 a sender signs (EIP-155 for a legacy transaction with a chain id, EIP-2718 for typed ones). */
export const signingPayload = (tx: UnsignedTransaction): Uint8Array => {
  const fields = unsignedFields(tx)
  if (tx.type !== 0) return typed(tx.type, fields)
  return encodeRlp(tx.chainId === undefined ? fields : [...fields, uintItem(tx.chainId), EMPTY_BYTES, EMPTY_BYTES])
}

/** Parts of a signature of 65 bytes: r, s and the parity of y. */
export const signatureParts = (signature: Uint8Array): TransactionSignature => ({
  yParity: signature[64] === 1 ? 1 : 0,
  r: signature.subarray(0, 32),
  s: signature.subarray(32, 64),
})

/** Signed serialisation, decoded again so that it passes the checks of any other. Throws TRANSACTION_MALFORMED. */
export const encodeTransaction = (tx: UnsignedTransaction, signature: TransactionSignature): DecodedTransaction =>
  decodeTransaction(serializeTransaction(tx, signature))

/** Signed serialisation without any check: an unsigned transaction has zeros for a signature. */
export const serializeTransaction = (tx: UnsignedTransaction, signature: TransactionSignature): Uint8Array => {
  const fields = [
    ...unsignedFields(tx),
    uintItem(signatureV(tx, signature.yParity)),
    trimZeros(signature.r),
    trimZeros(signature.s),
  ]
  return tx.type === 0 ? encodeRlp(fields) : typed(tx.type, fields)
}

const signatureV = (tx: UnsignedTransaction, yParity: 0 | 1): bigint => {
  if (tx.type !== 0) return BigInt(yParity)
  return tx.chainId === undefined ? BigInt(27 + yParity) : BigInt(tx.chainId) * 2n + 35n + BigInt(yParity)
}

const typed = (type: number, fields: RlpItem): Uint8Array => {
  const list = encodeRlp(fields)
  const out = new Uint8Array(1 + list.byteLength)
  out[0] = type
  out.set(list, 1)
  return out
}

const hexItem = (hex: Hex | null): Uint8Array => (hex === null ? EMPTY_BYTES : hexToBytes(hex))

const unsignedFields = (tx: UnsignedTransaction): readonly RlpItem[] => {
  const nonce = uintItem(tx.nonce)
  const gasPrice = uintItem(tx.maxFeePerGas)
  const message = [uintItem(tx.gasLimit), hexItem(tx.to), uintItem(tx.value), tx.data]
  if (tx.type === 0) return [nonce, gasPrice, ...message]
  const chainId = uintItem(tx.chainId ?? 0)
  const accessList = tx.accessList.map(entry => [hexToBytes(entry.address), entry.storageKeys.map(hexToBytes)])
  if (tx.type === 1) return [chainId, nonce, gasPrice, ...message, accessList]
  const common = [chainId, nonce, uintItem(tx.maxPriorityFeePerGas), gasPrice, ...message, accessList]
  if (tx.type === 2) return common
  if (tx.type === 3)
    return [...common, uintItem(tx.maxFeePerBlobGas ?? 0n), (tx.blobVersionedHashes ?? []).map(hexToBytes)]
  return [...common, authorizationItems(tx)]
}

const authorizationItems = (tx: UnsignedTransaction): readonly RlpItem[] =>
  (tx.authorizationList ?? []).map(item => [
    uintItem(item.chainId),
    hexToBytes(item.address),
    uintItem(item.nonce),
    uintItem(item.yParity),
    trimZeros(item.r),
    trimZeros(item.s),
  ])
