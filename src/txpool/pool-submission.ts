import { copyBytes, type Hex } from '@tandem/base/bytes.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import { keccak256Hex } from '../crypto/hash.ts'
import { type DecodedTransaction, decodeTransaction } from '../primitives/transaction/transaction.ts'
import { checkSize } from './pool/admission.ts'
import type { PoolError } from './pool/errors.ts'

/** Hash of a pooled transaction, or the error that refused it. */
export type AdmitOutcome = Hex | CodedError

/** Transaction on its way into the pool. */
export interface PoolSubmission {
  readonly decoded: DecodedTransaction
  readonly hash: Hex
  /** The sender where this node signed it; others are recovered. */
  readonly sender: Hex | undefined
  /** Rejects with errors that are not caused by the transaction. */
  readonly outcome: Promise<AdmitOutcome>
  readonly settle: (outcome: AdmitOutcome) => void
  readonly fail: (error: unknown) => void
}

/** Transactions in larger buffers are copied: a view would retain the whole request for one transaction. */
const SHARED_BUFFER_BYTES = 16 * 1024

/** Throws CodedError<PoolError | DecodeError>. */
export const openSubmission = (bytes: Uint8Array, sender: Hex | undefined): PoolSubmission => {
  checkSize(bytes.byteLength)
  const raw = bytes.buffer.byteLength > Math.max(SHARED_BUFFER_BYTES, 2 * bytes.byteLength) ? copyBytes(bytes) : bytes
  const { promise, resolve, reject } = Promise.withResolvers<AdmitOutcome>()
  return {
    decoded: decodeTransaction(raw),
    hash: keccak256Hex(raw),
    sender,
    outcome: promise,
    settle: resolve,
    fail: reject,
  }
}

export const alreadyKnown = (hash: Hex): CodedError<PoolError> =>
  new CodedError<PoolError>({ code: 'ALREADY_KNOWN', hash })

/** Outcome of the same bytes submitted again, once that of the first submission is known: a refusal is one for both. */
export const submittedAgain = async ({ outcome, hash }: PoolSubmission): Promise<AdmitOutcome> => {
  const first = await outcome
  return isCoded(first) ? first : alreadyKnown(hash)
}
