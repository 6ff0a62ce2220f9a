import { CodedError } from '@tandem/base/errors.ts'

/** Reasons for which a request gets nothing. `untilMs`: when it may succeed. */
export type FaucetRefusal =
  | { readonly code: 'ADDRESS_INVALID'; readonly reason: string }
  | { readonly code: 'WORK_INVALID'; readonly reason: string }
  /** The address has had its grant. */
  | { readonly code: 'TOO_SOON'; readonly untilMs: number }
  | { readonly code: 'CLIENT_LIMIT'; readonly untilMs: number; readonly needsWork: boolean }
  | { readonly code: 'DAILY_LIMIT'; readonly untilMs: number }
  | { readonly code: 'FAUCET_EMPTY' }
  | { readonly code: 'NODE_AWAY'; readonly reason: string }
  | { readonly code: 'FAUCET_BUSY' }

export const refusalError = (detail: FaucetRefusal): CodedError<FaucetRefusal> => new CodedError(detail)
