import { parsePeerUrl } from '../../network/identity/peer-url.ts'
import { startNode } from '../node.ts'
import type { NodeDeps, NodeOptions, RunningNode } from '../options.ts'
import { takeStaged } from './staged-store.ts'

/** Starts a node, and again on the staged store once a snapshot is complete, with the same ports. Throws as `startNode`. */
export const startSyncedNode = async (options: NodeOptions, deps: NodeDeps): Promise<RunningNode> => {
  await takeStaged(options.dataDir)
  return new RenewedNode(options, deps).start()
}

class RenewedNode {
  readonly #options: NodeOptions
  readonly #deps: NodeDeps
  #node: RunningNode | undefined
  #renewal: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(options: NodeOptions, deps: NodeDeps) {
    this.#options = options
    this.#deps = deps
  }

  async start(): Promise<RunningNode> {
    const onSnapshot = () => {
      this.#renewal = this.#renew()
    }
    const node = await startNode(this.#options, { ...this.#deps, onSnapshot })
    this.#node = node
    return { genesisHash: node.genesisHash, urls: node.urls, stop: () => this.#stop() }
  }

  async #stop(): Promise<void> {
    this.#isStopped = true
    await this.#renewal
    await this.#node?.stop()
  }

  /** Clients see closed connections while the trie of the new state is built. */
  async #renew(): Promise<void> {
    const node = this.#node
    if (node === undefined || this.#isStopped) return
    try {
      await node.stop()
      this.#node = undefined
      await takeStaged(this.#options.dataDir)
      const next = await startNode(atSamePorts(this.#options, node.urls), this.#deps)
      this.#node = next
    } catch (error) {
      this.#deps.onFatal(error instanceof Error ? error : new Error(String(error)))
    }
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
