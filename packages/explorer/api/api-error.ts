import { CodedError } from '@tandem/base/errors.ts'

/** Reason of a refused request; the message is for people, `field` names the parameter. */
export type ApiRefusal =
  | { readonly code: 'INVALID_PARAMETER'; readonly message: string; readonly field: string | null }
  | { readonly code: 'NOT_FOUND'; readonly message: string }
  | { readonly code: 'INDEX_NOT_READY'; readonly lag: number }
  | { readonly code: 'NOT_TAKEN'; readonly status: number; readonly reason: string; readonly message: string }

export const invalidParameter = (field: string | null, message: string): CodedError<ApiRefusal> =>
  new CodedError<ApiRefusal>({ code: 'INVALID_PARAMETER', message, field })

export const notFound = (message: string): CodedError<ApiRefusal> =>
  new CodedError<ApiRefusal>({ code: 'NOT_FOUND', message })

/** A submission that is refused with a status and a code of its own. */
export const notTaken = (status: number, reason: string, message: string): CodedError<ApiRefusal> =>
  new CodedError<ApiRefusal>({ code: 'NOT_TAKEN', status, reason, message })
