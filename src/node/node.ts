import type { Clock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { addressFromPrivateKey } from '../crypto/signature.ts'
import type { HealthStatus } from '../rpc/ports.ts'
import type { NodeDeps, NodeOptions, RunningNode } from './options.ts'
import { type ApiStage, createApi } from './stages/api.ts'
import { type CoreStage, createCoreStage } from './stages/core.ts'
import { openStorage, type StorageStage } from './stages/storage.ts'
import { Teardown } from './teardown.ts'

const INTERVAL_MS = 60_000

interface StatusLineOptions {
  readonly health: () => HealthStatus
  /** Number of executable transactions in the pool. */
  readonly pending: () => number
  readonly clock: Clock
  readonly logger: Logger
}

/** Logs the status of the node each minute; as a warning while it is unhealthy. Returns the function that ends it. */
export const logStatusLines = ({ health, pending, clock, logger }: StatusLineOptions): (() => void) => {
  let last = health().number ?? 0
  let cancel = () => {}
  const log = (): void => {
    const { healthy, reason, number = 0, peers, mode, round, target } = health()
    const fields = {
      number,
      blocks: number - last,
      peers,
      mode,
      ...(round !== undefined && round > 0 && { round }),
      ...(typeof target === 'number' && target > number && { target }),
      pending: pending(),
    }
    last = number
    if (healthy) logger.info(fields, 'status')
    else logger.warn({ ...fields, reason }, 'status: unhealthy')
    schedule()
  }
  const schedule = (): void => {
    cancel = clock.schedule(clock.nowMs() + INTERVAL_MS, log)
  }
  schedule()
  return () => cancel()
}

/** Delay after the start, so that the first clients are served before. */
const WARM_UP_MS = 1_500

interface Stages {
  readonly storage: StorageStage
  readonly core: CoreStage
  readonly api: ApiStage
}

/** Builds and starts every part, in stages; block production last. Parts are stopped in reverse order, also after a failed start. */
export const startNode = (options: NodeOptions, deps: NodeDeps): Promise<RunningNode> =>
  inStages(options, deps, async stages => {
    const urls = await listen(stages)
    await begin(stages)
    const { storage, core } = stages
    const peer = core.peers?.url
    return {
      genesisHash: storage.opened.genesisHash,
      urls: { ...urls, ...(peer && { peer }) },
      stop: () => storage.teardown.run(),
    }
  })

/** Starts a node whose only client is its own process, until it listens. */
export const startInside = (options: NodeOptions, deps: NodeDeps) =>
  inStages(options, deps, async stages => {
    await begin(stages)
    const { storage, api } = stages
    return {
      genesisHash: storage.opened.genesisHash,
      connect: api.service.connect,
      /** Opens the endpoints, once. Throws the error of a server whose port is in use. */
      listen: (place: Pick<NodeOptions, 'host' | 'port'>) =>
        listen({ ...stages, storage: { ...storage, options: { ...options, ...place } } }),
      stop: () => storage.teardown.run(),
    }
  })

const inStages = async <T>(options: NodeOptions, deps: NodeDeps, run: (stages: Stages) => Promise<T>): Promise<T> => {
  const teardown = new Teardown()
  try {
    const storage = await openStorage(options, deps, teardown)
    const core = await createCoreStage(storage)
    return await run({ storage, core, api: await createApi(storage, core) })
  } catch (error) {
    await teardown.run()
    throw error
  }
}

/** HTTP is loaded only here. */
const listen = async ({ storage, core, api }: Stages): Promise<Omit<RunningNode['urls'], 'peer'>> => {
  const { openServers } = await import('./stages/servers.ts')
  return openServers(storage, core, api)
}

/** Starts the engine first, then the peers, which send it blocks. */
const begin = async ({ storage, core }: Stages): Promise<void> => {
  const { options, deps, teardown, part } = storage
  const { clock } = deps
  const { executor, pool, peers, dev, engine, health } = core
  await (dev ?? engine).start()
  teardown.add(() => (dev ?? engine).stop())
  if (peers !== undefined) {
    teardown.add(() => peers.stop())
    await peers.start(engine)
    const pending = () => pool.service.counts().pending
    teardown.add(logStatusLines({ health, pending, clock, logger: part('node') }))
  }
  if (options.stateFile !== undefined) await dev?.keepState(options.stateFile, teardown)
  const isInstant = options.genesis.params.blockTimeMs === 0
  if (dev === undefined && isInstant) {
    // Every member recovers the first transaction before it expects a block: threads that start only then cost a round.
    pool.warmUp()
    if (pool.side.hasExecutable()) engine.requestBlock()
    else if (options.validatorKey) await core.chain.warmUp(addressFromPrivateKey(options.validatorKey))
  }
  // The engine for contract code is large; loading it while idle saves the first contract transaction that time.
  teardown.add(clock.schedule(clock.nowMs() + WARM_UP_MS, () => void executor.warmUp()))
}
