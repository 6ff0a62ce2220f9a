import type { Logger } from '@tandem/base/logger.ts'
import { CallBlocks } from '../../chain/call-blocks.ts'
import type { Chain } from '../../chain/chain.ts'
import { LogIndexer } from '../../chain/logs/log-indexer.ts'
import { LogService } from '../../chain/logs/log-service.ts'
import { PendingBlockBuilder, type PendingBlockOptions } from '../../chain/pending-block.ts'
import { SimulationService } from '../../chain/simulation-service.ts'
import { EVERY_LOG } from '../../chain/store/log-criteria.ts'
import type { ChainRules } from '../../chain/store/rules-port.ts'
import { SegmentMover } from '../../chain/store/segment-mover.ts'
import { TraceService, type TraceServiceOptions } from '../../chain/trace/trace-service.ts'
import type { TraceBlock } from '../../chain/trace/worker-protocol.ts'
import { type ChainViewOptions, createChainView } from '../../chain/view.ts'
import type { MemoryShares } from '../../config/limits/storage.ts'
import { engineNameOf } from '../../evm/engines/select-engine.ts'
import type { ExecutionMode } from '../../evm/executor-types.ts'
import type { TracedBlock, TracePort } from '../../rpc/ports.ts'
import type { Services } from '../../rpc/router/context.ts'
import { DevelopmentRules } from '../../rules/development.ts'
import { readMoved } from '../../storage/move-segment.ts'
import type { SegmentSizes } from '../options.ts'
import type { Teardown } from '../teardown.ts'
import { type CallPartsOptions, createCalls } from './calls.ts'
import type { PoolParts } from './pool.ts'

/** Differences of reads on a development chain. */
export type DevReads = Pick<PendingBlockOptions, 'timestampAfter'> &
  Pick<ChainViewOptions, 'baseFeeAfter' | 'onReplaced'> &
  Pick<CallPartsOptions, 'revision'>

interface ReadsOptions
  extends Pick<
      ChainViewOptions,
      'params' | 'genesisHash' | 'foundation' | 'store' | 'blocks' | 'world' | 'council' | 'syncing'
    >,
    Pick<PendingBlockOptions, 'executor' | 'coinbase' | 'clock'> {
  /** Shares of the default memory when omitted. */
  readonly memory?: Pick<MemoryShares, 'logs'>
  readonly execution: ExecutionMode
  /** Blocks below the head that are kept; all when omitted. */
  readonly history?: number | undefined
  readonly segments?: SegmentSizes | undefined
  /** Without `exclusively`, logs are not indexed. */
  readonly chain: Pick<Chain, 'headBlock' | 'onCommitted'> & Partial<Pick<Chain, 'exclusively'>>
  readonly rules: ChainRules
  readonly pool: Pick<PoolParts, 'service' | 'version'>
  readonly dev?: DevReads | undefined
  /** Gas limit of one eth_simulateV1, where it differs from that of a call. */
  readonly simulationGas?: bigint
  readonly part: (module: string) => Logger
}

export type Reads = Required<Pick<Services, 'view' | 'calls' | 'trace' | 'simulations' | 'logQueryPort'>>

/** Creates everything that reads the chain and writes nothing: pending block, view, and the threads for calls, traces and logs. */
export const createReads = (options: ReadsOptions, teardown: Teardown): Reads => {
  const { store, params, execution, rules, blocks, world, chain, pool, dev = {}, simulationGas, part, clock } = options
  const pending = new PendingBlockBuilder({
    ...options,
    blockTimeMs: params.blockTimeMs,
    pool: { select: baseFee => pool.service.select(baseFee), version: pool.version },
    ...(dev.timestampAfter && { timestampAfter: dev.timestampAfter }),
  })
  const logs = new LogService({
    store,
    ...(options.memory && { cacheBytes: options.memory.logs }),
    workerUrl: new URL('../../rpc/encode/log-worker.ts', import.meta.url),
    earliest: () => blocks.earliest,
  })
  teardown.add(() => logs.close())
  if (chain.exclusively) {
    keepLogIndex(options, logs, teardown)
    // Blocks of a development chain may be reverted.
    if (!store.isEphemeral && DevelopmentRules.of(params) === null) moveOldBlocks(options, teardown)
    if (readMoved(store).moved > 0)
      teardown.add(clock.schedule(clock.nowMs() + WARM_LOGS_MS, () => warmUp(logs, blocks)))
  }
  const view = createChainView({ ...options, ...dev, pending, wideLogs: query => logs.query(query) })
  dev.onReplaced?.(() => logs.forget())
  const bases = new CallBlocks({ blocks, chain, pending })
  const engine = engineNameOf(execution)
  const trace = createTraces({ store, params, engine, rules, logger: part('traces') })
  teardown.add(() => trace.close())
  const calls = createCalls({
    store,
    params,
    engine,
    rules,
    bases,
    chain,
    world,
    logger: part('calls'),
    ...(dev.revision && { revision: dev.revision }),
  })
  teardown.add(() => calls.close())
  const simulations = new SimulationService({
    params,
    rules,
    bases,
    world,
    calls,
    ...(simulationGas && { gas: simulationGas }),
  })
  return { view, calls, trace, simulations, logQueryPort: logs }
}

/** Delay after the start, which the log worker's would lengthen. */
const WARM_LOGS_MS = 1_500

/** Starts the log worker by a query of one block: a first query of old blocks that starts it itself takes twice the time. The index needs it soon too. */
const warmUp = (logs: LogService, { earliest }: ReadsOptions['blocks']): void => {
  logs.query({ fromBlock: earliest, toBlock: earliest, ...EVERY_LOG }).catch(() => {})
}

/** Indexes logs as blocks come. */
const keepLogIndex = ({ store, blocks, chain, part }: ReadsOptions, logs: LogService, teardown: Teardown): void => {
  const indexer = new LogIndexer({
    store,
    earliest: () => blocks.earliest,
    run: job => logs.index(job),
    stop: () => logs.stopIndex(),
    exclusively: async work => chain.exclusively?.(work),
    logger: part('logs'),
  })
  teardown.add(chain.onCommitted(() => indexer.poke()))
  teardown.add(() => indexer.close())
}

const moveOldBlocks = ({ store, blocks, chain, history, segments, part }: ReadsOptions, teardown: Teardown): void => {
  const mover = new SegmentMover({
    store,
    blocks,
    head: () => chain.headBlock.header.number,
    history,
    recentBlocks: segments?.recent,
    logger: part('storage'),
  })
  teardown.add(chain.onCommitted(() => mover.poke()))
  teardown.add(() => mover.close())
}

/** Creates the trace service, which gets the environment of each block's transactions. */
export const createTraces = ({
  rules,
  ...options
}: TraceServiceOptions & Pick<ReadsOptions, 'rules'>): TracePort & { close(): Promise<void> } => {
  const service = new TraceService(options)
  const describe = (block: TracedBlock): TraceBlock => {
    // Functions cannot cross threads, and the worker has the params.
    const { params: _, blockHash, stateRoot, ...env } = rules.committedEnv(block)
    return { number: block.header.number, hash: block.hash, env }
  }
  return {
    transaction: (block, index, config) =>
      service.trace({ kind: 'transaction', block: describe(block), index, config }),
    block: (block, config) => service.trace({ kind: 'block', block: describe(block), config }),
    call: (block, call, after, config) => service.trace({ kind: 'call', block: describe(block), call, after, config }),
    storageRange: (block, range) => service.trace({ kind: 'storageRange', block: describe(block), ...range }),
    accountRange: ({ header, hash }, range) =>
      service.trace({
        kind: 'accountRange',
        block: { number: header.number, hash },
        stateRoot: header.stateRoot,
        ...range,
      }),
    modifiedAccounts: (blocks, credited) =>
      service.trace({ kind: 'modifiedAccounts', blocks: blocks.map(describe), credited }),
    close: () => service.close(),
  }
}
