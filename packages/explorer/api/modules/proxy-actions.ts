import { askNode } from '../../chain/node-rpc.ts'
import type { ApiContext } from '../api-route.ts'
import { moduleFailure, type Parameters } from './module-answer.ts'

type Read = (parameters: Parameters) => unknown

const value =
  (name: string, otherwise?: string): Read =>
  parameters =>
    parameters.get(name) ?? otherwise

const callObject: Read = parameters =>
  Object.fromEntries(
    ['from', 'to', 'data', 'value', 'gas', 'gasPrice'].flatMap(name => {
      const found = parameters.get(name.toLowerCase())
      return found === undefined || found === '' ? [] : [[name, found]]
    }),
  )

const TAG = value('tag', 'latest')

/** Calls of the JSON-RPC interface that go through this one, with where their arguments come from. */
const METHODS: Readonly<Record<string, { readonly method: string; readonly arguments: readonly Read[] }>> = {
  eth_blocknumber: { method: 'eth_blockNumber', arguments: [] },
  eth_chainid: { method: 'eth_chainId', arguments: [] },
  eth_gasprice: { method: 'eth_gasPrice', arguments: [] },
  eth_getblockbynumber: {
    method: 'eth_getBlockByNumber',
    arguments: [TAG, parameters => parameters.get('boolean') === 'true'],
  },
  eth_getblocktransactioncountbynumber: { method: 'eth_getBlockTransactionCountByNumber', arguments: [TAG] },
  eth_gettransactionbyhash: { method: 'eth_getTransactionByHash', arguments: [value('txhash')] },
  eth_gettransactionbyblocknumberandindex: {
    method: 'eth_getTransactionByBlockNumberAndIndex',
    arguments: [TAG, value('index')],
  },
  eth_gettransactioncount: { method: 'eth_getTransactionCount', arguments: [value('address'), TAG] },
  eth_gettransactionreceipt: { method: 'eth_getTransactionReceipt', arguments: [value('txhash')] },
  eth_sendrawtransaction: { method: 'eth_sendRawTransaction', arguments: [value('hex')] },
  eth_call: { method: 'eth_call', arguments: [callObject, TAG] },
  eth_estimategas: { method: 'eth_estimateGas', arguments: [callObject] },
  eth_getcode: { method: 'eth_getCode', arguments: [value('address'), TAG] },
  eth_getbalance: { method: 'eth_getBalance', arguments: [value('address'), TAG] },
  eth_getstorageat: { method: 'eth_getStorageAt', arguments: [value('address'), value('position'), TAG] },
}

/** A JSON-RPC response, as these tools expect it of the proxy module. */
export const proxyAnswer = async (
  { node }: ApiContext,
  action: string,
  parameters: Parameters,
  client: string,
): Promise<string> => {
  const found = Object.hasOwn(METHODS, action) ? METHODS[action] : undefined
  if (found === undefined) return JSON.stringify(moduleFailure('Error! Missing Or invalid Action name'))
  const params = found.arguments.map(read => read(parameters)).filter(argument => argument !== undefined)
  const answer = await askNode(node, found.method, params, client)
  return answer ?? JSON.stringify(moduleFailure('Error! The answer is too long'))
}
