import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { startPageServer } from '@tandem/web/page-server.ts'
import { EXPLORER_PATH, type Site } from '@tandem/web/site.ts'
import type { FastifyRequest } from 'fastify'
import { type Network, readNetwork } from '../chain/network.ts'
import { NodeClient } from '../chain/node-client.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import { readPriceConfig } from '../price/price-config.ts'
import { holdIndex, type IndexDatabase, openIndex, openIndexReader } from '../store/open-index.ts'
import { addExplorerRoutes } from './explorer-http.ts'
import { ExplorerService } from './explorer-service.ts'
import { healthBody, waitReason } from './indexer-health.ts'
import { readLabels } from './label-file.ts'
import { LiveStream, readLiveParts } from './live-stream.ts'
import { addPageRoutes } from './pages-http.ts'
import type { ExplorerThreadStart } from './protocol.ts'
import { RequestLimiter, readKeys } from './request-limiter.ts'
import { UnreadAnswers } from './unread-answers.ts'

interface ExplorerProcessOptions {
  /** ws:// or wss:// */
  readonly nodeUrl: string
  /** Public address of the node's JSON-RPC, for wallets; `RPC_PATH` where it is that of the pages. */
  readonly rpcUrl: string | undefined
  /** Returns true when the faucet has pages at the same address. */
  readonly hasFaucet?: boolean
  /** Methods of the node that are switched off for the public, which the explorer passes on to nobody. */
  readonly disabledMethods?: readonly string[]
  /** Namespaces of the node's public port; left out: any. */
  readonly publicNamespaces?: readonly string[]
  readonly dataDir: string
  readonly database: IndexDatabase
  readonly host: string
  readonly port: number
  readonly keysFile: string | undefined
  readonly labelsFile: string | undefined
  readonly priceFile: string | undefined
  readonly solcDirectory: string | undefined
  readonly clientOf: (request: FastifyRequest) => string
  readonly version: string
  /** Ends the wait for the node. */
  readonly signal: AbortSignal
  readonly clock: Pick<Clock, 'nowMs'>
  readonly logger: Logger
}

interface ExplorerProcess {
  readonly port: number
  readonly network: Network
  close(): Promise<void>
}

/** Error of an explorer that is started. */
type ExplorerStartError = {
  readonly code: 'INDEX_FOREIGN'
  readonly path: string
  readonly found: Hex
  readonly expected: Hex
}

/** Explorer over a node elsewhere: index, API and pages. Waits for the node at first; later it may come and go. */
export const startExplorerProcess = async (options: ExplorerProcessOptions): Promise<ExplorerProcess> => {
  const { nodeUrl, host, port, clientOf, keysFile, clock, logger } = options
  const heads = new Set<() => void>()
  const tellAll = (): void => {
    for (const tell of heads) tell()
  }
  const node = new NodeClient({ url: nodeUrl, logger, onHead: tellAll })
  options.signal.addEventListener('abort', () => void node.close())
  const network = await untilReached(options.signal, logger, () => readNetwork(node))
  const { rules } = network
  const held = holdIndex(options.database)
  await checkIndex(options, network).catch((error: unknown) => {
    held?.close()
    throw error
  })
  const site: Site = {
    network: rules.name,
    symbol: rules.symbol,
    version: options.version,
    explorerUrl: EXPLORER_PATH,
    faucet: options.hasFaucet ?? false,
    isPlain: rules.tandem === undefined,
    ...(options.rpcUrl !== undefined && { rpcUrl: options.rpcUrl }),
  }
  const service = new ExplorerService(threadStart(options, network, site), logger)
  const live = new LiveStream(() => readLiveParts(service))
  heads.add(() => service.onHead()).add(() => live.onHead())
  const close = async (): Promise<void> => {
    live.close()
    await service.close()
    await node.close()
    held?.close()
  }
  const limiter = new RequestLimiter(readKeys(keysFile), () => clock.nowMs())
  service.start()
  try {
    const parts = { service, limiter, unread: new UnreadAnswers(), clientOf, site, live }
    const health = () => healthBody(service.health, Date.now())
    const { bodyBytes } = EXPLORER_LIMITS.verification
    const server = await startPageServer(
      { ...EXPLORER_LIMITS.http, bodyBytes, host, port, home: EXPLORER_PATH, health },
      app => {
        addExplorerRoutes(app, parts)
        addPageRoutes(app, parts)
      },
    )
    return { port: server.port, network, close: () => server.close().then(close) }
  } catch (error) {
    await close()
    throw error
  }
}

const threadStart = (
  { dataDir, labelsFile, priceFile, ...options }: ExplorerProcessOptions,
  network: Network,
  site: Site,
): Omit<ExplorerThreadStart, 'signals'> => ({
  nodeUrl: options.nodeUrl,
  database: options.database,
  contractsPath: join(dataDir, 'contracts.sqlite'),
  solcDirectory: options.solcDirectory,
  rules: network.rules,
  version: options.version,
  site,
  labels: [...network.labels, ...readLabels(labelsFile)],
  price: priceFile === undefined ? undefined : readPriceConfig(priceFile),
  disabledMethods: options.disabledMethods,
  publicNamespaces: options.publicNamespaces,
})

/**
 * Throws DATABASE_REFUSED and INDEX_UNREADABLE for an index that cannot be kept there, and INDEX_FOREIGN for one of another chain: it may have
 * taken days. That of a development chain is emptied instead.
 */
const checkIndex = async (
  { database, signal, logger }: ExplorerProcessOptions,
  { rules, genesisHash }: Network,
): Promise<void> => {
  const found = await untilReached(signal, logger, async () => {
    const index = await openIndex(database)
    const first = await index.block(0).finally(() => index.close())
    return first?.hash ?? genesisHash
  })
  await checkReplica(database)
  if (rules.isDevelopment) return
  const path = database.kind === 'sqlite' ? database.path : new URL(database.url).pathname.slice(1)
  if (found !== genesisHash)
    throw new CodedError<ExplorerStartError>({ code: 'INDEX_FOREIGN', path, found, expected: genesisHash })
}

/** Throws DATABASE_REFUSED. A replica that is away, or has no tables yet, may come after. */
const checkReplica = async (database: IndexDatabase): Promise<void> => {
  if (database.kind !== 'postgres' || database.readUrl === undefined) return
  const { databaseRefusal } = await import('../store/postgres/database-refusal.ts')
  const reader = await openIndexReader(database)
  try {
    await reader.position()
  } catch (error) {
    const refusal = databaseRefusal(error, database.readUrl)
    if (refusal !== undefined) throw refusal
  } finally {
    await reader.close()
  }
}

/** Asks node or database until they answer. Throws what is no matter of time. */
const untilReached = async <T>(signal: AbortSignal, logger: Logger, ask: () => Promise<T>): Promise<T> => {
  for (let isTold = false; ; isTold = true) {
    try {
      return await ask()
    } catch (error) {
      const waitsFor = isCoded(error) ? UNREACHABLE.get(error.code) : undefined
      if (signal.aborted || waitsFor === undefined) throw error
      if (!isTold)
        logger.warn({ reason: waitReason(error), check: waitsFor }, 'the explorer waits, and goes on by itself')
      await new Promise(resolve => setTimeout(resolve, EXPLORER_LIMITS.node.firstRetryMs))
    }
  }
}

/** Options that an operator should look at when the wait is long. */
const UNREACHABLE = new Map([
  ['NODE_UNREACHABLE', '--node'],
  ['DATABASE_UNREACHABLE', '--database'],
])
