import { parsePeerUrl } from '../../network/identity/peer-url.ts'
import { startNode } from '../node.ts'
import type { NodeDeps, NodeOptions, RunningNode } from '../options.ts'
import { takeStaged } from './staged-store.ts'

/** Starts a node, and again on the staged store once a snapshot is complete, with the same ports. Throws as `startNode`. */
export const startSyncedNode = async (options: NodeOptions, deps: NodeDeps): Promise<RunningNode> => {
  await takeStaged(options.dataDir)
  let node: RunningNode | undefined
  let renewal: Promise<void> = Promise.resolve()
  let isStopped = false
  /** Clients see closed connections while the trie of the new state is built. */
  const renew = async (): Promise<void> => {
    if (node === undefined || isStopped) return
    const { urls, stop } = node
    try {
      await stop()
      node = undefined
      await takeStaged(options.dataDir)
      node = await startNode(atSamePorts(options, urls), deps)
    } catch (error) {
      deps.onFatal(error instanceof Error ? error : new Error(String(error)))
    }
  }
  const onSnapshot = () => {
    renewal = renew()
  }
  node = await startNode(options, { ...deps, onSnapshot })
  return {
    ...node,
    async stop() {
      isStopped = true
      await renewal
      await node?.stop()
    },
  }
}

const atSamePorts = (options: NodeOptions, urls: RunningNode['urls']): NodeOptions => {
  const { peers } = options
  return {
    ...options,
    port: portOf(urls.http),
    ...(urls.operator !== undefined && { operatorPort: portOf(urls.operator) }),
    ...(urls.metrics !== undefined && { metricsPort: portOf(urls.metrics) }),
    ...(peers?.listen &&
      urls.peer !== undefined && {
        peers: {
          ...peers,
          listen: { host: peers.listen.host, port: peers.listen.port || parsePeerUrl(urls.peer).port },
        },
      }),
  }
}

const portOf = (url: string): number => Number(new URL(url).port)
