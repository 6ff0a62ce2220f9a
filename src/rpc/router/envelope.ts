import { RPC_LIMITS } from '../../config/limits/clients.ts'
import type { RpcError } from '../errors.ts'

/** Returns an error as the JSON text of a response's error member. */
const errorJson = ({ code, message, data }: RpcError): string => {
  const dataText = data === undefined ? '' : `,"data":${JSON.stringify(data)}`
  return `{"code":${code},"message":${JSON.stringify(message)}${dataText}}`
}
/** Returns the text of an error response; the id is JSON text. */
export const errorText = (id: string, error: RpcError): string =>
  `{"jsonrpc":"2.0","id":${id},"error":${errorJson(error)}}`

/** Returns the id as it was written; undefined when it is unknown or too long. */
export const shortId = (exactId: string | undefined): string | undefined =>
  exactId !== undefined && exactId.length <= RPC_LIMITS.idChars ? exactId : undefined

/** Returns the id as JSON text, null if absent; undefined for an array, an object and a long one, which are invalid. */
export const idToText = (id: unknown): string | undefined => {
  if (typeof id === 'number') return String(id)
  if (typeof id === 'boolean' || (typeof id === 'string' && id.length <= RPC_LIMITS.idChars)) return JSON.stringify(id)
  return id === undefined || id === null ? 'null' : undefined
}

/** A request without an id gets no response; a value that is not a request does. */
export const isNotification = (request: unknown): boolean =>
  typeof request === 'object' && request !== null && !Array.isArray(request) && !('id' in request)

/** Returns the id of any batch item as text; null for values that are not requests. */
export const textOfId = (request: unknown): string => idToText((request as { id?: unknown } | null)?.id) ?? 'null'

/** Returns true when the id is a number that JavaScript cannot hold exactly; it must be returned as it was sent. */
export const hasInexactId = (request: unknown): boolean => {
  if (typeof request !== 'object' || request === null) return false
  const { id } = request as { id?: unknown }
  return typeof id === 'number' && !Number.isSafeInteger(id)
}
