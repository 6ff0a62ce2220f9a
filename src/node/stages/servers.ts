import type { Server } from 'node:net'
import { EMPTY_BYTES, type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { EXPLORER_PATH, FAUCET_PATH, RPC_PATH, type Site } from '@tandem/web/site.ts'
import { nativeRules } from '../../chain/block/header-assembly.ts'
import type { Chain } from '../../chain/chain.ts'
import { NAMESPACES } from '../../config/networks.ts'
import { addressFromPrivateKey } from '../../crypto/signature.ts'
import type { CallService } from '../../evm/calls/types.ts'
import type { MiningService } from '../../powchain/mining/mining-service.ts'
import { methodsFor } from '../../rpc/methods/methods.ts'
import { namespacesIn } from '../../rpc/router/method.ts'
import { createRpcServer, type RpcServerOptions } from '../../rpc/transport/server.ts'
import { createRefusalLog, logTransactions } from '../dev/terminal-log.ts'
import type { NodeOptions, RunningNode } from '../options.ts'
import { createMining } from '../parts/mining.ts'
import { nodeInfo, operatorAddress } from '../parts/operator-address.ts'
import type { NodePageOptions } from '../parts/pages/node-page.ts'
import { createNodePages } from '../parts/pages/node-pages.ts'
import { proofChainPort } from '../parts/proof-chain-port.ts'
import { createReads, type Reads } from '../parts/reads.ts'
import { createWallet } from '../parts/wallet.ts'
import { urlHost, version } from '../version.ts'
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

type Rpc = Omit<RpcServerOptions, 'port' | 'host'>

/** Opens every endpoint and returns the URLs. Throws the error of a server whose port is in use. */
export const openServers = async (
  storage: StorageStage,
  core: CoreStage,
): Promise<Omit<RunningNode['urls'], 'peer'>> => {
  const { options, deps, teardown, part, observer } = storage
  const { chain, peers } = core
  const reads = readsOf(storage, core)
  const rpc = rpcOf(storage, core, reads, await operatorAddress(options))
  const mining = miningOf(storage, core)
  // Public ports serve no mining jobs, whatever address they listen on; a development chain has only a public port.
  const isDev = options.genesis.params.devHelpers
  if (core.dev)
    teardown.add(logTransactions({ chain, reads, logger: part('devnet'), abiFolder: options.devnet?.abiFolder }))
  const explorer = await explorerOf(storage, { ...rpc, wallet: walletOf(core, []) })
  const faucet = await faucetOf(storage)
  const services = { ...rpc, ...(isDev && { mining }) }
  const server = await createRpcServer({
    ...services,
    ...publicOptions(storage, core),
    ...(core.dev && { onRefused: createRefusalLog(part('devnet'), deps.clock) }),
    routes: (app, call) => {
      explorer?.(app, call)
      faucet?.(app, call)
    },
    pages: createNodePages(pageOptions(storage, services, explorer !== undefined)),
  })
  teardown.add(() => server.close())
  teardown.add(warmUpCalls({ server: server.app.server, calls: reads.calls, chain, clock: deps.clock }))
  const operator = await openOperator(storage, { ...rpc, mining, ...(peers && { peers: peers.network }) })
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
    ...(operator && { operator }),
    ...(metrics && { metrics }),
    ...(stratum && { stratum }),
    ...(faucet && { faucet: `http${secure}://${host}:${server.port}${FAUCET_PATH}` }),
    ...(explorer && {
      explorer: `http${secure}://${host}:${server.port}/api`,
      pages: `http${secure}://${host}:${server.port}${EXPLORER_PATH}`,
    }),
  }
}

/** Loaded only where it is served; the explorer itself is a process, started by the first request. */
const explorerOf = async ({ options, teardown, part }: StorageStage, rpc: Rpc): Promise<RpcServerOptions['routes']> => {
  const { explorer, dataDir, ephemeral = false, disabledMethods = [] } = options
  if (explorer === undefined) return undefined
  const { createExplorer } = await import('../parts/pages/explorer.ts')
  return createExplorer(
    {
      ...{ explorer, dataDir, ephemeral, disabledMethods },
      publicNamespaces: (options.namespaces ?? options.genesis.params.namespaces).http,
      hasFaucet: options.faucet !== undefined,
      openRpc: key => openExplorerRpc(options, rpc, key),
      logger: part('explorer'),
    },
    teardown,
  )
}

/**
 * Opens a port of the loopback for the explorer's calls, which have no limit by the second: what the public port serves, and the namespaces that the
 * index needs.
 */
const openExplorerRpc = async (
  { genesis, namespaces }: NodeOptions,
  rpc: Rpc,
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

const faucetOf = async ({
  options,
  deps,
  teardown,
  part,
  observer,
}: StorageStage): Promise<RpcServerOptions['routes']> => {
  const { faucet, dataDir, ephemeral = false, genesis } = options
  if (faucet === undefined) return undefined
  const { createFaucet } = await import('../parts/pages/faucet.ts')
  return createFaucet(
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
  )
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
const pageOptions = ({ options, deps }: StorageStage, services: Rpc, explorer: boolean): NodePageOptions => {
  const { params } = options.genesis
  return {
    view: services.view,
    site: siteOf(options, explorer),
    health: services.health ?? (() => ({ healthy: true })),
    namespaces: namespacesIn(methodsFor((options.namespaces ?? params.namespaces).http, services)),
    wsPath: params.wsPaths[0] ?? '/',
    isSecure: options.publicPort?.tls !== undefined,
    accounts: options.devnet?.accounts ?? [],
    clock: deps.clock,
  }
}

/** Proposer of the pending block: this node's validator, or none. */
const pendingProposer = ({ validatorKey }: NodeOptions) =>
  validatorKey ? addressFromPrivateKey(validatorKey) : ZERO_ADDRESS

const readsOf = ({ options, deps, teardown, part, memory, opened, sources }: StorageStage, core: CoreStage): Reads => {
  const { executor, pool, chain, dev } = core
  return createReads(
    {
      memory,
      execution: options.execution,
      params: options.genesis.params,
      genesisHash: opened.genesisHash,
      foundation: options.genesis.foundation,
      store: opened.store,
      blocks: opened.blocks,
      world: opened.world,
      rules: nativeRules(sources),
      chain,
      council: sources.council,
      executor,
      pool,
      coinbase: pendingProposer(options),
      clock: deps.clock,
      part,
      dev: dev?.reads,
      syncing: core.syncing,
    },
    teardown,
  )
}

const miningOf = ({ options, deps, teardown, part, opened, observer }: StorageStage, { chain }: CoreStage) => {
  const { proofPool } = opened
  const { params } = options.genesis
  const parts = { params, proofPool, chain, options: options.mining, clock: deps.clock }
  return createMining({ ...parts, logger: part('powchain'), metrics: observer?.metrics }, teardown)
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

const walletOf = ({ dev }: CoreStage, unlocked: NodeOptions['unlocked']) =>
  createWallet(unlocked, dev && (account => dev.helpers.impersonation.includes(account)))

/** Options shared by all endpoints. */
const rpcOf = ({ options, part, opened }: StorageStage, core: CoreStage, reads: Reads, coinbase: Hex): Rpc => {
  const { pool, peers, dev } = core
  const { params } = options.genesis
  return {
    ...reads,
    pool: dev?.pool ?? pool.service,
    ...(dev && { dev: dev.helpers }),
    economy: opened.economy,
    proofChain: proofChainPort({ ...opened, params }),
    wallet: walletOf(core, options.unlocked),
    info: nodeInfo(coinbase, options.clientName, peers?.network),
    log: part('rpc'),
    health: core.health,
  }
}

/** Options of the public port. */
const publicOptions = ({ options, observer }: StorageStage, core: CoreStage) => {
  const {
    host,
    port,
    namespaces,
    disabledMethods,
    cors,
    allowHosts,
    rateLimitPerSecond,
    publicPort: { socketsPerClient, tls, compression, ...clientRules } = {},
    publicSigning = false,
  } = options
  return {
    host,
    port,
    // On the loopback too: a proxy on this machine forwards calls of any client.
    ...(!publicSigning && { wallet: walletOf(core, []) }),
    ...(observer && { metrics: observer.metrics }),
    ...(namespaces && { namespaces }),
    ...(disabledMethods && { disabledMethods }),
    ...(cors && { cors }),
    ...(allowHosts && { hosts: allowHosts }),
    clientRules: {
      ...clientRules,
      ...(rateLimitPerSecond !== undefined && {
        rateLimit: { perSecond: rateLimitPerSecond, burst: 2 * rateLimitPerSecond },
      }),
    },
    ...(socketsPerClient !== undefined && { socketsPerClient }),
    ...(tls && { tls }),
    ...(compression && { compression }),
  }
}

/**
 * Opens the operator port with every namespace: loopback only, whatever the public port serves
 * (docs/design/networks.md#ports).
 */
const openOperator = async ({ options, teardown }: StorageStage, rpc: Rpc): Promise<string | undefined> => {
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
