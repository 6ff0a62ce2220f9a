import type { Logger } from '@tandem/base/logger.ts'
import type { ChainParams } from '../../config/networks.ts'
import type { ChainSource, HeadCalls } from '../chain/chain-source.ts'
import type { ExplorerChain } from './protocol.ts'

/** Opens the chain for a thread. */
export const openSource = async (chain: ExplorerChain, params: ChainParams, logger: Logger): Promise<ChainSource> =>
  chain.kind === 'store' ? openLocal(chain.path, params) : (await openRemote(chain.url, params, logger)).source

/** The same with calls of contracts, whose engine only the indexer loads. */
export const openSourceWithCalls = async (
  chain: ExplorerChain,
  params: ChainParams,
  logger: Logger,
): Promise<{ readonly source: ChainSource; readonly calls: HeadCalls }> => {
  if (chain.kind === 'node') {
    const { source, node } = await openRemote(chain.url, params, logger)
    const { RemoteCalls } = await import('../chain/remote-calls.ts')
    return { source, calls: new RemoteCalls(node) }
  }
  const source = await openLocal(chain.path, params)
  const { LocalCalls } = await import('../source/local-calls.ts')
  return { source, calls: new LocalCalls(source) }
}

const openLocal = async (path: string, params: ChainParams) => {
  const { Store } = await import('../../storage/store.ts')
  const { LocalChain } = await import('../source/local-chain.ts')
  return new LocalChain(await Store.open(path, { createIfMissing: false }), params)
}

const openRemote = async (url: string, params: ChainParams, logger: Logger) => {
  const { NodeClient } = await import('../chain/node-client.ts')
  const { RemoteChain } = await import('../chain/remote-chain.ts')
  const node = new NodeClient({ url, logger })
  return { node, source: new RemoteChain(node, params) }
}
