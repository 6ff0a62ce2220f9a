import { CodedError } from '../../util/errors.ts'

/** Thrown as CodedError by whatever reads what a peer sent of a snapshot. */
export type SnapshotError = { readonly code: 'SNAPSHOT_FALSE'; readonly reason: string }

export const falseSnapshot = (reason: string): CodedError<SnapshotError> =>
  new CodedError({ code: 'SNAPSHOT_FALSE', reason })
