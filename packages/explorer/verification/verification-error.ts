import { CodedError } from '@tandem/base/errors.ts'

/** Reason why source code was not verified; the message is for people. */
export type VerificationRefusal = {
  readonly code:
    | 'INVALID_INPUT'
    | 'UNKNOWN_COMPILER'
    | 'NO_CODE'
    | 'ALREADY_VERIFIED'
    | 'QUEUE_FULL'
    | 'COMPILER_FAILED'
    | 'NO_MATCH'
    | 'WRONG_ARGUMENTS'
    | 'UNAVAILABLE'
  readonly message: string
}

/** `cause` is for the log. */
export const refuseVerification = (
  code: VerificationRefusal['code'],
  message: string,
  options?: ErrorOptions,
): CodedError<VerificationRefusal> => new CodedError<VerificationRefusal>({ code, message }, options)

export const isVerificationRefusal = (error: unknown): error is CodedError<VerificationRefusal> =>
  error instanceof CodedError && typeof (error.detail as { readonly message?: unknown }).message === 'string'
