import type { Server } from 'node:net'
import { EMPTY_BYTES, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { defined } from '@tandem/base/defined.ts'
import { EXPLORER_PATH, FAUCET_PATH, RPC_PATH, type Site } from '@tandem/web/site.ts'
import type { FastifyInstance } from 'fastify'
import type { Chain } from '../../chain/chain.ts'
import { NAMESPACES } from '../../config/networks.ts'
import type { CallService } from '../../evm/calls/types.ts'
import type { MiningService } from '../../powchain/mining/mining-service.ts'
import { methodsFor } from '../../rpc/methods/methods.ts'
import { namespacesIn } from '../../rpc/router/method.ts'
import { createRpcServer, type RpcCall, type RpcServerOptions } from '../../rpc/transport/server.ts'
import type { RpcServiceOptions } from '../../rpc/transport/service.ts'
import type { NodeOptions, RunningNode } from '../options.ts'
import type { NodePageOptions } from '../parts/pages/node-page.ts'
import { createNodePages } from '../parts/pages/node-pages.ts'
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
        await addExplorer(storage, { ...rpc, wallet: walletOf(core, []) }, app)
        await addFaucet(storage, app, call)
      },
      pages: createNodePages(pageOptions(storage, core, served, explorer !== undefined)),
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
  const stratum = await stratumOf(storage, mining)
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

/** The explorer itself is a process, started by the first request. */
const addExplorer = async (
  { options, teardown, part }: StorageStage,
  rpc: RpcServiceOptions,
  app: FastifyInstance,
): Promise<void> => {
  const { explorer, dataDir, ephemeral = false, disabledMethods = [] } = options
  if (explorer === undefined) return
  const { createExplorer } = await import('../parts/pages/explorer.ts')
  createExplorer(
    {
      ...{ explorer, dataDir, ephemeral, disabledMethods },
      publicNamespaces: (options.namespaces ?? options.genesis.params.namespaces).http,
      hasFaucet: options.faucet !== undefined,
      openRpc: key => openExplorerRpc(options, rpc, key),
      logger: part('explorer'),
    },
    teardown,
  )(app)
}

/** Opens a loopback port for the explorer's calls, without rate limit: what the public port serves and the index needs. */
const openExplorerRpc = async (
  { genesis, namespaces }: NodeOptions,
  rpc: RpcServiceOptions,
  key: string,
): Promise<{ readonly url: string; close(): Promise<void> }> => {
  const served = [...new Set([...(namespaces ?? genesis.params.namespaces).http, 'eth', 'native'])]
  const server = await createRpcServer({
    ...rpc,
    host: '127.0.0.1',
    port: 0,
    namespaces: { http: [], ws: served },
    wsPaths: ['/ws'],
    hosts: ['localhost'],
    checkOrigin: true,
    clientRules: { apiKeys: [{ name: 'explorer', key, perSecond: Number.MAX_SAFE_INTEGER }], needsKey: true },
  })
  return { url: `ws://127.0.0.1:${server.port}/ws?apikey=${key}`, close: () => server.close() }
}

const addFaucet = async (
  { options, deps, teardown, part, observer }: StorageStage,
  app: FastifyInstance,
  call: RpcCall,
): Promise<void> => {
  const { faucet, dataDir, ephemeral = false, genesis } = options
  if (faucet === undefined) return
  const { createFaucet } = await import('../parts/pages/faucet.ts')
  createFaucet(
    {
      ...faucet,
      params: genesis.params,
      dataDir,
      ephemeral,
      site: siteOf(options, options.explorer !== undefined),
      onFatal: deps.onFatal,
      clock: deps.clock,
      logger: part('faucet'),
      metrics: observer?.metrics,
    },
    teardown,
  )(app, call)
}

const siteOf = ({ genesis: { params }, faucet }: NodeOptions, explorer: boolean): Site => ({
  network: params.name,
  symbol: params.symbol,
  version,
  ...(explorer && { explorerUrl: EXPLORER_PATH }),
  faucet: faucet !== undefined,
  rpcUrl: RPC_PATH,
})

/** Options of the node's own page. */
const pageOptions = (
  { options, deps }: StorageStage,
  { health }: CoreStage,
  services: RpcServiceOptions,
  explorer: boolean,
): NodePageOptions => {
  const { params } = options.genesis
  return {
    view: services.view,
    site: siteOf(options, explorer),
    health,
    namespaces: namespacesIn(methodsFor((options.namespaces ?? params.namespaces).http, services)),
    wsPath: params.wsPaths[0] ?? '/',
    isSecure: options.publicPort?.tls !== undefined,
    accounts: options.devnet?.accounts ?? [],
    clock: deps.clock,
  }
}

const stratumOf = async (
  { options, deps, teardown, part, opened, observer }: StorageStage,
  service: MiningService,
): Promise<string | undefined> => {
  if (options.stratum === undefined) return undefined
  const { createStratum } = await import('../parts/stratum.ts')
  return createStratum(
    {
      options: options.stratum,
      params: options.genesis.params,
      service,
      ...opened,
      clock: deps.clock,
      logger: part('stratum'),
      metrics: observer?.metrics,
    },
    teardown,
  )
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
