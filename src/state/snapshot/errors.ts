import { CodedError } from '../../util/errors.ts'

/** Errors of data from a peer about a snapshot or historic blocks, thrown as CodedError. */
type SnapshotDataError =
  | { readonly code: 'SNAPSHOT_FALSE'; readonly reason: string }
  /** The blocks are valid, their receipts are not. */
  | { readonly code: 'RECEIPTS_FALSE'; readonly reason: string }

export const falseSnapshot = (reason: string): CodedError<SnapshotDataError> =>
  new CodedError({ code: 'SNAPSHOT_FALSE', reason })

export const falseReceipts = (reason: string): CodedError<SnapshotDataError> =>
  new CodedError({ code: 'RECEIPTS_FALSE', reason })
