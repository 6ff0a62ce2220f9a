import { CodedError } from '../../util/errors.ts'

/** Thrown as CodedError by whatever reads what a peer sent of a snapshot, or of the past. */
export type SnapshotDataError =
  | { readonly code: 'SNAPSHOT_FALSE'; readonly reason: string }
  /** Blocks are as they should be, their receipts are not. */
  | { readonly code: 'RECEIPTS_FALSE'; readonly reason: string }

export const falseSnapshot = (reason: string): CodedError<SnapshotDataError> =>
  new CodedError({ code: 'SNAPSHOT_FALSE', reason })

export const falseReceipts = (reason: string): CodedError<SnapshotDataError> =>
  new CodedError({ code: 'RECEIPTS_FALSE', reason })
