import { CodedError } from '@tandem/base/errors.ts'
import type { NodePort } from '../api/api-route.ts'

/** Thrown as CodedError by `rpc`. */
type TooLong = { readonly code: 'ANSWER_TOO_LONG'; readonly limit: number }

/** Longest response of the node that is passed on, characters. */
const PASSED_CHARS = 5 * 1_024 * 1_024

/** Bounds the calls that the explorer passes on for its clients: methods that the operator switched off, and responses that are too long. */
export const publicCalls = (node: NodePort, disabled: readonly string[]): NodePort => ({
  ...node,
  async rpc(request) {
    const { id = null, method } = JSON.parse(request) as { readonly id?: unknown; readonly method: string }
    if (disabled.includes(method))
      return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_075, message: 'Method disabled' } })
    const text = await node.rpc(request)
    if (text.length > PASSED_CHARS) throw new CodedError<TooLong>({ code: 'ANSWER_TOO_LONG', limit: PASSED_CHARS })
    return text
  },
})
