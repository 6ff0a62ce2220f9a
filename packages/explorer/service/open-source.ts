import type { Logger } from '@tandem/base/logger.ts'
import type { ChainSource, HeadCalls } from '../chain/chain-source.ts'
import { NodeClient } from '../chain/node-client.ts'
import { nodeCalls } from '../chain/node-port.ts'
import { RpcChain } from '../chain/rpc-chain.ts'
import type { ChainRules } from '../chain/rules.ts'

/** Connects a thread to its node: reads of the chain, and calls of contracts on its head. */
export const openSource = (
  nodeUrl: string,
  rules: ChainRules,
  logger: Logger,
): { readonly source: ChainSource; readonly calls: HeadCalls } => {
  const node = new NodeClient({ url: nodeUrl, logger })
  return { source: new RpcChain(node, rules), calls: nodeCalls(node) }
}
