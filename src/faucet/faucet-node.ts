import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError, isCoded, messageWithCause } from '@tandem/base/errors.ts'

/** Sends the text of a JSON-RPC request: inside the node, or over HTTP. */
type NodeCall = (request: string) => Promise<string>

export type FaucetNodeError =
  /** No answer, or none that is one. */
  | { readonly code: 'NODE_UNREACHABLE'; readonly reason: string }
  /** JSON-RPC error of the node. */
  | { readonly code: 'NODE_REFUSED'; readonly method: string; readonly message: string }

/** Requests of the faucet to a node. */
export type FaucetNode = ReturnType<typeof createFaucetNode>

/** Creates the requests to a node. They throw CodedError<FaucetNodeError>. */
export const createFaucetNode = (call: NodeCall) => {
  const ask = (method: string, ...params: readonly unknown[]): Promise<unknown> => askNode(call, method, params)
  return {
    chainId: async () => Number(quantity(await ask('eth_chainId'))),
    genesisHash: async () => hashFrom(await ask('eth_getBlockByNumber', '0x0', false)),
    balance: async (address: Hex) => quantity(await ask('eth_getBalance', address, 'latest')),
    /** True for an account with code. */
    isContract: async (address: Hex) => (await ask('eth_getCode', address, 'latest')) !== '0x',
    gasPrice: async () => quantity(await ask('eth_gasPrice')),
    nonce: async (address: Hex, at: 'latest' | 'pending') =>
      Number(quantity(await ask('eth_getTransactionCount', address, at))),
    send: async (raw: Hex): Promise<void> => {
      await ask('eth_sendRawTransaction', raw)
    },
    /** Number of the block that includes a transaction; undefined: none; 'unavailable': the node has not fetched all of its blocks yet. */
    blockOf: async (hash: Hex): Promise<number | 'unavailable' | undefined> => {
      try {
        const receipt = (await ask('eth_getTransactionReceipt', hash)) as { readonly blockNumber?: unknown } | null
        return receipt === null ? undefined : Number(quantity(receipt.blockNumber))
      } catch (error) {
        if (isPruned(error)) return 'unavailable'
        throw error
      }
    },
  }
}

const unreachable = (reason: string, cause?: unknown): CodedError<FaucetNodeError> =>
  new CodedError({ code: 'NODE_UNREACHABLE', reason }, { cause })

/** The text is an interface (docs/design/rpc.md#errors). */
const isPruned = (error: unknown): boolean => {
  if (!isCoded(error) || error.code !== 'NODE_REFUSED') return false
  return (error as CodedError<Extract<FaucetNodeError, { code: 'NODE_REFUSED' }>>).detail.message.startsWith(
    'pruned history unavailable',
  )
}

const askNode = async (call: NodeCall, method: string, params: readonly unknown[]): Promise<unknown> => {
  let answer: { readonly result?: unknown; readonly error?: { readonly message?: unknown } }
  try {
    answer = JSON.parse(await call(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })))
  } catch (error) {
    throw unreachable(messageWithCause(error), error)
  }
  if (answer.error !== undefined)
    throw new CodedError<FaucetNodeError>({ code: 'NODE_REFUSED', method, message: String(answer.error.message) })
  if (answer.result === undefined) throw unreachable(`no result of ${method}`)
  return answer.result
}

const quantity = (value: unknown): bigint => {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,64}$/.test(value)) return BigInt(value)
  throw unreachable('the node returned something that is no quantity')
}

const hashFrom = (block: unknown): Hex => {
  const hash = (block as { readonly hash?: unknown } | null)?.hash
  if (typeof hash === 'string' && /^0x[0-9a-f]{64}$/.test(hash)) return hash as Hex
  throw unreachable('the node returned something that is no block')
}
