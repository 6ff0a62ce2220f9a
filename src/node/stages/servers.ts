import type { Server } from 'node:net'
import { EMPTY_BYTES, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { defined } from '@tandem/base/defined.ts'
import { EXPLORER_PATH, FAUCET_PATH, RPC_PATH, type Site } from '@tandem/web/site.ts'
import type { Chain } from '../../chain/chain.ts'
import { NAMESPACES } from '../../config/networks.ts'
import type { CallService } from '../../evm/calls/types.ts'
import { methodsFor } from '../../rpc/methods/methods.ts'
import { namespacesIn } from '../../rpc/router/method.ts'
import type { NodePages } from '../../rpc/transport/http/routes.ts'
import { createRpcServer, type RpcServerOptions } from '../../rpc/transport/server.ts'
import type { RpcServiceOptions } from '../../rpc/transport/service.ts'
import type { NodeOptions, RunningNode } from '../options.ts'
import type { createNodePage } from '../parts/pages/node-page.ts'
import { urlHost, version } from '../version.ts'
import { type ApiStage, walletOf } from './api.ts'
import type { CoreStage } from './core.ts'
import type { StorageStage } from './storage.ts'

/** Delay after the first connection, so that its own first request is served before. */
const WARM_CALLS_MS = 500

interface WarmCallsOptions {
  /** HTTP server of the public port. */
  readonly server: Server
  readonly calls: Pick<CallService, 'call'>
  readonly chain: Pick<Chain, 'headBlock'>
  readonly clock: Clock
}

/**
 * Starts the call worker when the first client has connected, with an empty creation that runs through all of it: a first call
 * that starts it itself waits 0.3 s. A node without clients, as most validators are, saves the thread and its 40 MiB. Returns the
 * function that cancels it.
 */
export const warmUpCalls = ({ server, calls, chain, clock }: WarmCallsOptions): (() => void) => {
  let cancel = (): void => {}
  const warm = (): void => {
    const { number } = chain.headBlock.header
    const nothing = { from: ZERO_ADDRESS, to: null, value: 0n, data: EMPTY_BYTES }
    // The first real call meets and reports the same failure.
    calls.call({ number, message: nothing }, '').catch(() => {})
  }
  const onConnection = (): void => {
    cancel = clock.schedule(clock.nowMs() + WARM_CALLS_MS, warm)
  }
  server.once('connection', onConnection)
  return () => {
    server.off('connection', onConnection)
    cancel()
  }
}

/** Opens every endpoint and returns the URLs. Throws the error of a server whose port is in use. */
export const openServers = async (
  storage: StorageStage,
  core: CoreStage,
  { reads, rpc, mining, served, service }: ApiStage,
): Promise<Omit<RunningNode['urls'], 'peer'>> => {
  const { options, deps, teardown, part, observer } = storage
  const { chain, peers } = core
  const { explorer, faucet, ephemeral = false } = options
  const server = await createRpcServer(
    {
      ...served,
      ...publicOptions(storage),
      port: options.port ?? 0,
      health: core.health,
      async routes(app, call) {
        if (explorer) {
          const { addExplorer } = await import('./explorer.ts')
          addExplorer(storage, explorer, { ...rpc, wallet: walletOf(core, []) }, app)
        }
        if (faucet) {
          const { addFaucet } = await import('./faucet.ts')
          addFaucet(storage, { faucet, site: siteOf(options) }, app, call)
        }
      },
      pages: createNodePages(storage, core, served),
    },
    service,
  )
  teardown.add(() => server.close())
  // Grants of an earlier process and the index do not wait for a request.
  if (!ephemeral) await server.routes()
  teardown.add(warmUpCalls({ server: server.server, calls: reads.calls, chain, clock: deps.clock }))
  const operator = await openOperator(storage, {
    ...{ ...rpc, mining, health: core.health },
    ...(peers && { peers: peers.network }),
  })
  const stratum =
    options.stratum && (await (await import('./stratum.ts')).openStratum(storage, options.stratum, mining))
  const metrics = await observer?.serve({
    host: options.metricsHost ?? '127.0.0.1',
    port: options.metricsPort ?? 0,
    logger: part('metrics'),
  })
  const host = urlHost(options.host)
  const secure = options.publicPort?.tls === undefined ? '' : 's'
  return {
    http: `http${secure}://${host}:${server.port}`,
    ws: `ws${secure}://${host}:${server.port}${options.genesis.params.wsPaths[0]}`,
    ...defined({ operator, metrics, stratum }),
    ...(faucet && { faucet: `http${secure}://${host}:${server.port}${FAUCET_PATH}` }),
    ...(explorer && {
      explorer: `http${secure}://${host}:${server.port}/api`,
      pages: `http${secure}://${host}:${server.port}${EXPLORER_PATH}`,
    }),
  }
}

const siteOf = ({ genesis: { params }, faucet, explorer }: NodeOptions): Site => ({
  network: params.name,
  symbol: params.symbol,
  version,
  ...(explorer && { explorerUrl: EXPLORER_PATH }),
  faucet: faucet !== undefined,
  rpcUrl: RPC_PATH,
})

/** Pages of the public port for browsers. Templates and assets are loaded when the first browser comes. */
const createNodePages = (
  { options, deps }: StorageStage,
  { health }: CoreStage,
  services: RpcServiceOptions,
): NodePages => {
  const { params } = options.genesis
  let front: Promise<ReturnType<typeof createNodePage>> | undefined
  const createFront = async () =>
    (await import('../parts/pages/node-page.ts')).createNodePage({
      view: services.view,
      site: siteOf(options),
      health,
      namespaces: namespacesIn(methodsFor((options.namespaces ?? params.namespaces).http, services)),
      wsPath: params.wsPaths[0] ?? '/',
      isSecure: options.publicPort?.tls !== undefined,
      accounts: options.devnet?.accounts ?? [],
      clock: deps.clock,
    })
  return {
    async front(request) {
      front ??= createFront()
      return (await front)(request)
    },
    async asset(path, acceptEncoding) {
      const { assetResponse } = await import('@tandem/web/response.ts')
      return assetResponse(path, acceptEncoding)
    },
  }
}

/** Options of the public port. */
const publicOptions = ({ options }: StorageStage) => {
  const {
    host,
    cors,
    allowHosts,
    rateLimitPerSecond,
    publicPort: { socketsPerClient: _, tls, compression, ...clientRules } = {},
  } = options
  return {
    host,
    ...defined({ cors, hosts: allowHosts, tls }),
    clientRules: {
      ...clientRules,
      ...(rateLimitPerSecond !== undefined && {
        rateLimit: { perSecond: rateLimitPerSecond, burst: 2 * rateLimitPerSecond },
      }),
    },
    ...(compression && { compression }),
  }
}

/** Opens the operator port with every namespace: loopback only, whatever the public port serves (docs/public-node.md). */
const openOperator = async (
  { options, teardown }: StorageStage,
  rpc: RpcServiceOptions & Pick<RpcServerOptions, 'health'>,
): Promise<string | undefined> => {
  if (options.operatorPort === undefined) return undefined
  const host = '127.0.0.1'
  const namespaces = { http: NAMESPACES, ws: NAMESPACES }
  const server = await createRpcServer({
    ...rpc,
    host,
    port: options.operatorPort,
    namespaces,
    // Rejects host names, which an attacker may resolve to this machine, and pages in the operator's browser.
    hosts: ['localhost'],
    checkOrigin: true,
  })
  teardown.add(() => server.close())
  return `http://${host}:${server.port}`
}
