import type { Logger } from '@tandem/base/logger.ts'
import type { NodePort } from '../api/api-route.ts'
import type { ChainSource, HeadCalls } from '../chain/chain-source.ts'
import type { ChainRules } from '../chain/rules.ts'
import type { ExplorerChain } from './protocol.ts'

/** Opens the chain for a thread. */
export const openSource = async (
  chain: ExplorerChain,
  rules: ChainRules,
  logger: Logger,
  committee: NodePort['committee'],
): Promise<ChainSource> =>
  chain.kind === 'store' ? openLocal(chain, rules, committee) : (await openRpc(chain.url, rules, logger)).source

/** The same with calls of contracts, whose engine only the indexer loads. */
export const openSourceWithCalls = async (
  chain: ExplorerChain,
  rules: ChainRules,
  logger: Logger,
): Promise<{ readonly source: ChainSource; readonly calls: HeadCalls }> => {
  if (chain.kind === 'node') {
    const { source, node } = await openRpc(chain.url, rules, logger)
    const { nodeCalls } = await import('../chain/node-port.ts')
    return { source, calls: nodeCalls(node) }
  }
  const source = await openLocal(chain, rules)
  const { LocalCalls } = await import('../source/local-calls.ts')
  return { source, calls: new LocalCalls(source) }
}

const openLocal = async (
  { path, params }: ExplorerChain & { readonly kind: 'store' },
  rules: ChainRules,
  committee?: NodePort['committee'],
) => {
  const { Store } = await import('../../storage/store.ts')
  const { LocalChain } = await import('../source/local-chain.ts')
  return new LocalChain({
    store: await Store.open(path, { createIfMissing: false }),
    params,
    rules,
    ...(committee && { committee }),
  })
}

const openRpc = async (url: string, rules: ChainRules, logger: Logger) => {
  const { NodeClient } = await import('../chain/node-client.ts')
  const { RpcChain } = await import('../chain/rpc-chain.ts')
  const node = new NodeClient({ url, logger })
  return { node, source: new RpcChain(node, rules) }
}
