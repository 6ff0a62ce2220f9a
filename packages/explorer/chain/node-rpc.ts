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
