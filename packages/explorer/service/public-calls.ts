import { FairSemaphore } from '@tandem/base/async/fair-semaphore.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { NodePort } from '../api/api-route.ts'
import { EXPLORER_LIMITS } from '../limits.ts'

/** Thrown as CodedError by `rpc`. */
type TooLong = { readonly code: 'ANSWER_TOO_LONG'; readonly limit: number }

/** Longest response of the node that is passed on, characters. */
const PASSED_CHARS = 5 * 1_024 * 1_024

interface PublicCallOptions {
  /** Way of the calls of clients: what they ask for must not cost the index its connection. */
  readonly pass: (request: string) => Promise<string>
  /** Methods that the operator switched off. */
  readonly disabledMethods?: readonly string[] | undefined
  /** Namespaces of the public port; undefined: any. */
  readonly namespaces?: readonly string[] | undefined
}

/** Bounds the calls that the explorer passes on for its clients: what the public port serves, a few at once, and responses that are not too long. */
export const publicCalls = (
  node: NodePort,
  { pass, disabledMethods = [], namespaces }: PublicCallOptions,
): NodePort => {
  // Requests that wait are bounded where they come in.
  const turns = new FairSemaphore(EXPLORER_LIMITS.node.passed, () => new Error('no queue is bounded'))
  const passInTurn = async (request: string, client: string): Promise<string> => {
    const release = await turns.acquire(client)
    return pass(request).finally(release)
  }
  return {
    ...node,
    async rpc(request, client) {
      const { id = null, method } = JSON.parse(request) as { readonly id?: unknown; readonly method: string }
      const refusal = (code: number, message: string) =>
        JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })
      if (disabledMethods.includes(method)) return refusal(-32_075, 'Method disabled')
      // Reads of the explorer itself are of no client.
      if (client !== '' && namespaces?.includes(method.split('_')[0] as string) === false)
        return refusal(-32_601, `the method ${method} does not exist/is not available`)
      const text = await (client === '' ? node.rpc(request, client) : passInTurn(request, client))
      if (text.length > PASSED_CHARS) throw new CodedError<TooLong>({ code: 'ANSWER_TOO_LONG', limit: PASSED_CHARS })
      return text
    },
  }
}
