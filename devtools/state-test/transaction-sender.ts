import { CodedError } from '@tandem/base/errors.ts'
import { keccak256, keccak256Hex } from '../../src/crypto/hash.ts'
import { isLowS, recoverAddress } from '../../src/crypto/signature.ts'
import {
  type DecodedTransaction,
  type Transaction,
  withSender,
  yParityOf,
} from '../../src/primitives/transaction/transaction.ts'
import { signingPayload } from '../../src/primitives/transaction/transaction-encoding.ts'

/** The signature is invalid, or its s is in the upper half (EIP-2). */
type TransactionSenderError = { readonly code: 'INVALID_SENDER' }

/** keccak256 of the payload that was signed. */
export const signedDigest = (tx: DecodedTransaction): Uint8Array => keccak256(signingPayload(tx))

/** Signature as 65 bytes: r and s padded, and the parity 0 or 1. */
export const signatureBytes = (tx: Pick<DecodedTransaction, 'type' | 'chainId' | 'v' | 'r' | 's'>): Uint8Array => {
  const bytes = new Uint8Array(65)
  bytes.set(tx.r, 32 - tx.r.byteLength)
  bytes.set(tx.s, 64 - tx.s.byteLength)
  bytes[64] = yParityOf(tx)
  return bytes
}

/** Computes hash and sender on this thread (about 50 us natively); pools and imports use the recovery workers. Throws INVALID_SENDER. */
export const recoverTransaction = (tx: DecodedTransaction): Transaction => {
  const signature = signatureBytes(tx)
  const from = isLowS(signature.subarray(32, 64)) ? recoverAddress(signedDigest(tx), signature) : undefined
  if (from === undefined) throw new CodedError<TransactionSenderError>({ code: 'INVALID_SENDER' })
  return withSender(tx, { hash: keccak256Hex(tx.raw), from })
}
