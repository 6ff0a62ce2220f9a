import { CodedError } from '@tandem/base/errors.ts'

/** Errors of data from a peer about a snapshot or historic blocks, thrown as CodedError. */
type SnapshotDataError =
  | { readonly code: 'SNAPSHOT_FALSE'; readonly reason: string; readonly number?: number }
  /** The blocks are valid, their receipts are not. */
  | { readonly code: 'RECEIPTS_FALSE'; readonly reason: string; readonly number?: number }

/** `number`: block of a range to which the reason belongs. */
export const falseSnapshot = (reason: string, number?: number): CodedError<SnapshotDataError> =>
  new CodedError({ code: 'SNAPSHOT_FALSE', reason, ...(number !== undefined && { number }) })

export const falseReceipts = (reason: string, number?: number): CodedError<SnapshotDataError> =>
  new CodedError({ code: 'RECEIPTS_FALSE', reason, ...(number !== undefined && { number }) })
