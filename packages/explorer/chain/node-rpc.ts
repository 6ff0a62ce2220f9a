import type { Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'

/** Way to the JSON-RPC interface of the node, as its clients see it. */
export interface NodeRpc {
  /** Answers a JSON-RPC request of a client by a JSON-RPC response. Throws CodedError with the code ANSWER_TOO_LONG. */
  rpc(request: string, client: string): Promise<string>
}

/** Asks the node; undefined when its answer is too long to be passed on. */
export const askNode = async (
  { rpc }: NodeRpc,
  method: string,
  params: readonly unknown[],
  client = '',
): Promise<string | undefined> => {
  try {
    return await rpc(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), client)
  } catch (error) {
    if (isCoded(error) && error.code === 'ANSWER_TOO_LONG') return undefined
    throw error
  }
}

/** Result of a request to the node; undefined when it is refused, or too long to be passed on. */
export const askResult = async (
  node: NodeRpc,
  method: string,
  params: readonly unknown[],
  client = '',
): Promise<unknown> => {
  const answer = await askNode(node, method, params, client)
  return answer === undefined ? undefined : (JSON.parse(answer) as { readonly result?: unknown }).result
}

/** Word of 32 bytes that a contract returns on the head's state; undefined: it returns something else, or fails. */
export const callWord = async (node: NodeRpc, to: Hex, data: Hex, gas: Hex): Promise<Hex | undefined> => {
  const result = await askResult(node, 'eth_call', [{ to, data, gas }, 'latest'])
  return typeof result === 'string' && /^0x[0-9a-f]{64}$/.test(result) ? (result as Hex) : undefined
}
