import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Chain } from '../chain/chain.ts'
import { nativeRules } from '../chain/chain-rules.ts'
import { NAMESPACES, type Namespace } from '../config/networks.ts'
import { addressOf, refusedProviders, signatures } from '../crypto/signature.ts'
import { createExecutor } from '../evm/executor.ts'
import type { Header } from '../primitives/header.ts'
import { createRpcServer, type RpcServer, type RpcServerOptions } from '../rpc/server.ts'
import { ZERO_ADDRESS } from '../util/bytes.ts'
import type { Logger } from '../util/logger.ts'
import { blockCodec, createConsensus, signerOf, withSenders } from './consensus.ts'
import { consensusFolder } from './consensus-folder.ts'
import { beginDev, createDev } from './dev/dev.ts'
import { createHealth } from './health.ts'
import { lockKey } from './key-lock.ts'
import { NodePeers } from './network/peers.ts'
import { openChain } from './open-chain.ts'
import type { NodeDeps, NodeOptions, RunningNode } from './options.ts'
import { createPoolParts } from './pool.ts'
import { createReads } from './reads.ts'
import { reportSeat } from './seat.ts'
import { createWallet, nodeInfo } from './services.ts'
import { Teardown } from './teardown.ts'
import { urlHost } from './urls.ts'
import { warmCalls } from './warm-calls.ts'

/** After the start, when the first clients have had their answers. */
const WARM_UP_MS = 1_500

const EVERYTHING: readonly Namespace[] = NAMESPACES

/**
 * Builds every part and starts it: store and state, pool, chain, calls, consensus, endpoints. What was started is stopped in
 * the opposite order, also when a later part fails to start.
 */
export const startNode = async (options: NodeOptions, deps: NodeDeps): Promise<RunningNode> => {
  const teardown = new Teardown()
  try {
    return await build(options, deps, teardown)
  } catch (error) {
    await teardown.run()
    throw error
  }
}

const build = async (options: NodeOptions, deps: NodeDeps, teardown: Teardown): Promise<RunningNode> => {
  const { genesis, dataDir, validatorKey } = options
  const { clock, onFatal } = deps
  const { params } = genesis
  const logger = deps.logger
  const part = (module: string) => logger.child({ module })
  reportSignatures(part('crypto'))
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const storePath = join(dataDir, 'db')
  const observer =
    options.metricsPort === undefined ? undefined : (await import('./observe.ts')).createObserver(teardown)

  const opened = await openChain({ genesis, storePath, stateHistory: options.stateHistory, logger, onFailure: onFatal })
  const { store, blocks, world, economy, evidence, genesisHash } = opened
  teardown.add(() => store.close())
  teardown.add(() => world.close())
  teardown.add(() => evidence.close())
  if (validatorKey && options.soleSigner)
    teardown.add(await lockKey({ address: addressOf(validatorKey), genesisHash, dataDir }))

  const devStart = await beginDev(genesis, validatorKey, opened, clock)
  const { sources, head } = devStart ?? opened
  const executor = createExecutor({
    mode: options.execution,
    logger: part('evm'),
    reproductionDir: join(dataDir, 'shadow'),
  })
  const pool = createPoolParts({
    params,
    head: head.block.header,
    state: world.head,
    dataDir,
    allowUnprotected: options.allowUnprotected,
    ...(devStart && { baseFeeAfter: (header: Header) => devStart.choices.baseFeeAfter(header) }),
    ...(observer && { metrics: observer.metrics }),
    clock,
    logger: part('txpool'),
  })
  teardown.add(() => pool.recovery.close())
  teardown.add(() => pool.service.close())

  const chain = new Chain({
    store,
    blocks,
    world,
    executor,
    pool: pool.side,
    sources,
    economy,
    evidence,
    head,
    clock,
    logger: part('chain'),
  })
  const peers =
    options.peers &&
    (await NodePeers.open({
      options: options.peers,
      params,
      genesisHash,
      dataDir,
      chain,
      blocks,
      council: sources.council,
      desk: evidence,
      pool: pool.service,
      codec: blockCodec(pool.recovery),
      withSenders: block => withSenders(pool.recovery, block),
      signer: validatorKey && signerOf(validatorKey),
      ...(observer && { metrics: observer.metrics }),
      clock,
      part,
    }))
  const syncing = () => peers?.syncing ?? false
  const consensus = {
    council: sources.council,
    evidence: peers?.evidence ?? evidence,
    ...(peers && { network: peers.network.consensus }),
    recovery: pool.recovery,
    params,
    genesisHash,
    validatorKey,
    trustMissingLog: options.trustMissingLog,
    clock,
    ...(observer && { metrics: observer.consensus }),
    logger: part('consensus'),
    onFatal,
  }
  const dev = devStart && (await createDev(devStart, { ...consensus, genesis, opened, chain, pool, dataDir }))
  if (validatorKey)
    reportSeat(addressOf(validatorKey), sources.council, {
      number: head.block.header.number + 1,
      logger: part('consensus'),
    })
  const coinbase = validatorKey ? addressOf(validatorKey) : ZERO_ADDRESS
  const reads = createReads(
    {
      storePath,
      params,
      genesisHash,
      rules: nativeRules(sources),
      store,
      blocks,
      world,
      chain,
      council: sources.council,
      executor,
      pool,
      coinbase,
      clock,
      part,
      dev: dev?.reads,
      syncing,
    },
    teardown,
  )

  const engine =
    dev?.engine ?? (await createConsensus({ ...consensus, execution: chain, folder: consensusFolder(dataDir) }))
  // Before anybody can submit: a journal that is written before it was read forgets what it held.
  await pool.service.start()
  if (dev === undefined) pool.service.onPending(() => engine.requestBlock())
  observer?.watch({ chain, engine, world, store })

  const walletOf = (unlocked: NodeOptions['unlocked']) =>
    createWallet(unlocked, dev && (account => dev.helpers.impersonation.includes(account)))
  const wallet = walletOf(options.unlocked)
  const rpc: Omit<RpcServerOptions, 'port' | 'host'> = {
    ...reads,
    pool: dev?.pool ?? pool.service,
    ...(dev && { dev: dev.helpers }),
    economy,
    wallet,
    info: nodeInfo(coinbase, options.clientName, peers?.network),
    log: part('rpc'),
    health: createHealth({
      chain,
      engine,
      blockTimeMs: dev?.blockTimeMs ?? (() => params.blockTimeMs),
      syncing,
      peers: () => peers?.network.peerCount ?? 0,
      clock,
    }),
  }
  const server = await createRpcServer({
    ...rpc,
    // Unlocked keys sign for whoever can reach the port: never for the world.
    wallet: isLoopback(options.host) ? wallet : walletOf([]),
    host: options.host,
    port: options.port,
    ...(observer && { metrics: observer.metrics }),
    ...(options.namespaces && { namespaces: options.namespaces }),
    ...(options.cors && { cors: options.cors }),
    ...(options.allowHosts && { hosts: options.allowHosts }),
    ...(options.rateLimitPerSecond !== undefined && {
      rateLimit: { perSecond: options.rateLimitPerSecond, burst: 2 * options.rateLimitPerSecond },
    }),
  })
  teardown.add(() => server.close())
  teardown.add(warmCalls({ server: server.app.server, calls: reads.calls, chain, clock }))
  const operator = await startOperator(options, { ...rpc, ...(peers && { peers: peers.network }) }, teardown)
  const exporter = await observer?.serve({
    host: options.host,
    port: options.metricsPort ?? 0,
    logger: part('metrics'),
  })

  await (dev ?? engine).start()
  teardown.add(() => (dev ?? engine).stop())
  if (peers !== undefined) {
    teardown.add(() => peers.stop())
    await peers.start(engine)
  }
  await dev?.keepState(options.stateFile, teardown)
  if (dev === undefined && params.blockTimeMs === 0 && pool.side.hasExecutable()) engine.requestBlock()
  // The engine for contract code is large; loading it while nothing waits spares the first contract transaction that time.
  teardown.add(clock.schedule(clock.nowMs() + WARM_UP_MS, () => void executor.warmUp()))
  return {
    genesisHash,
    urls: {
      http: `http://${urlHost(options.host)}:${server.port}`,
      ws: `ws://${urlHost(options.host)}:${server.port}${params.wsPaths[0]}`,
      ...(operator && { operator: `http://127.0.0.1:${operator.port}` }),
      ...(exporter && { metrics: exporter }),
      ...(peers?.url && { peer: peers.url }),
    },
    stop: () => teardown.run(),
  }
}

/** Every namespace, for the operator alone: loopback only, whatever the public port serves (DESIGN 1). */
const startOperator = async (
  options: NodeOptions,
  rpc: Omit<RpcServerOptions, 'port' | 'host'>,
  teardown: Teardown,
): Promise<RpcServer | undefined> => {
  if (options.operatorPort === undefined) return undefined
  const namespaces = { http: EVERYTHING, ws: EVERYTHING }
  const server = await createRpcServer({
    ...rpc,
    host: '127.0.0.1',
    port: options.operatorPort,
    namespaces,
    hosts: ['localhost'],
  })
  teardown.add(() => server.close())
  return server
}

const reportSignatures = (logger: Logger): void => {
  for (const error of refusedProviders) logger.debug({ reason: error.message }, 'signature provider not usable')
  if (signatures.name === 'secp256k1-native') logger.debug({ provider: signatures.name }, 'signature provider')
  else
    logger.warn({ provider: signatures.name }, 'signatures without the native addon: admission is several times slower')
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.')
