import type { Hex } from '@tandem/base/bytes.ts'

/** Errors of this folder, thrown as CodedError. */
export type StateError =
  /** State after that block is not available: pruned, or beyond the head. `root`: its root, zero when the header is unknown too. */
  | { readonly code: 'MISSING_STATE'; readonly root: Hex }
  /** The stored accounts do not match the expected root: the data directory is damaged. */
  | { readonly code: 'STATE_ROOT_MISMATCH'; readonly number: number; readonly expected: Hex; readonly found: Hex }
  /** Block tables and state tables are at different blocks. */
  | { readonly code: 'STATE_HEAD_MISMATCH'; readonly expected: number; readonly found: number }
  /** The head moved since this view of it was taken. */
  | { readonly code: 'STATE_MOVED' }
  /** More entries changed since that block than a proof may roll back. */
  | { readonly code: 'PROOF_TOO_DEEP'; readonly limit: number }
