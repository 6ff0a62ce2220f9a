import { CodedError } from '@tandem/base/errors.ts'

/** Failure of a question to the node of an explorer that runs by itself. */
export type RemoteNodeError =
  /** No connection, or no answer in time. */
  | { readonly code: 'NODE_UNREACHABLE'; readonly reason: string }
  /** JSON-RPC error of the node. */
  | { readonly code: 'NODE_REFUSED'; readonly method: string; readonly message: string }
  /** An answer that has another form than the method's. */
  | { readonly code: 'NODE_ANSWER_INVALID'; readonly reason: string }

export const remoteNodeError = (detail: RemoteNodeError): CodedError<RemoteNodeError> => new CodedError(detail)
