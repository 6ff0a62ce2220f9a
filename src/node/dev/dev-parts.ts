import { readFile } from 'node:fs/promises'
import { delayUntil } from '@tandem/base/async/delay.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { CodedError, undefinedIfCoded } from '@tandem/base/errors.ts'
import { ifMissing } from '@tandem/base/fs/if-missing.ts'
import { replaceFile } from '@tandem/base/fs/replace-file.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { BlockEnvSources } from '../../chain/block/block-env.ts'
import type { Chain, ChainHead } from '../../chain/chain.ts'
import { DevHelpers } from '../../chain/dev/dev-helpers.ts'
import { DevMiner } from '../../chain/dev/dev-miner.ts'
import { DevTime } from '../../chain/dev/dev-time.ts'
import { DevWriter } from '../../chain/dev/dev-writer.ts'
import { NextBlockSettings } from '../../chain/dev/next-block.ts'
import { interruptedRewind, rewindTo } from '../../chain/dev/rewind.ts'
import type { ChainBlock } from '../../chain/store/types.ts'
import type { Genesis } from '../../config/genesis/genesis.ts'
import { DEV_LIMITS } from '../../config/limits/chain.ts'
import type { ConsensusEngine } from '../../consensus/engine/types.ts'
import { senderOrThrow } from '../../crypto/recovery/batch.ts'
import { addressFromPrivateKey } from '../../crypto/signature.ts'
import { decodeTransaction, withSender } from '../../primitives/transaction/transaction.ts'
import { DevelopmentRules } from '../../rules/development.ts'
import type { PoolError } from '../../txpool/pool/errors.ts'
import type { ClientPoolPort } from '../../txpool/pool-service.ts'
import type { DevBehaviour } from '../options.ts'
import type { ConsensusPartsOptions } from '../parts/consensus/consensus.ts'
import type { OpenedChain } from '../parts/open-chain.ts'
import type { PoolParts } from '../parts/pool.ts'
import type { DevReads } from '../parts/reads.ts'
import type { Teardown } from '../teardown.ts'
import { DevEngine } from './dev-engine.ts'

const LOOK_MS = 5

/** Resolves when the engine decided its logged proposal, or cannot. It polls: the commit's event may have come before this call. */
export const untilIdle = async (engine: Pick<ConsensusEngine, 'status'>, clock: Clock): Promise<void> => {
  for (;;) {
    const { isIdle, mode } = engine.status()
    if (isIdle || mode !== 'voting') return
    await delayUntil(clock, clock.nowMs() + LOOK_MS).over
  }
}

/**
 * Loads the state from a file if it exists, and saves it there before anything stops, atomically: a failure leaves the old file. A name in
 * .gz makes it gzip; anvil's form is plain JSON. Throws STATE_MALFORMED or STATE_TOO_LARGE.
 */
const keepState = async (path: string, helpers: DevHelpers, logger: Logger, teardown: Teardown): Promise<void> => {
  const stored = await readFile(path).catch(ifMissing(undefined))
  if (stored !== undefined) {
    await helpers.load(stored)
    logger.info({ path, bytes: stored.byteLength }, 'state loaded')
  }
  teardown.add(async () => {
    const bytes = await helpers.dump(path.endsWith('.gz') ? 'gzip' : 'json')
    await replaceFile(path, bytes)
    logger.info({ path, bytes: bytes.byteLength }, 'state written')
  })
}

/** Parts of a development chain that exist before the chain is opened. */
type DevStart = NonNullable<Awaited<ReturnType<typeof beginDev>>>

/** Returns undefined unless this node is the only validator of a development chain. An interrupted rewind is completed. */
export const beginDev = async (
  genesis: Genesis,
  validatorKey: Uint8Array | null,
  opened: OpenedChain,
  clock: Clock,
) => {
  const { params, council } = genesis
  const development = DevelopmentRules.of(params)
  if (development === null || validatorKey === null || addressFromPrivateKey(validatorKey) !== council[0]?.validator)
    return undefined
  const choices = new NextBlockSettings(params, development)
  return {
    time: new DevTime(clock),
    choices,
    sources: { ...opened.sources, choices: () => choices.current } satisfies BlockEnvSources,
    development,
    head: await resumeRewind({ ...opened, development }),
  }
}

const resumeRewind = async (opened: OpenedChain & { readonly development: DevelopmentRules }): Promise<ChainHead> => {
  const target = await interruptedRewind(opened.store)
  if (target === undefined) return opened.head
  await rewindTo(opened, target)
  return {
    block: (await opened.blocks.block(target.number)) as ChainBlock,
    certificate: (await opened.blocks.certificate(target.number)) ?? null,
  }
}

interface DevOptions extends Omit<ConsensusPartsOptions, 'execution' | 'folder' | 'params'> {
  readonly genesis: Genesis
  readonly opened: OpenedChain
  readonly chain: Chain
  readonly pool: PoolParts
  /** undefined: the state of consensus ends with the process. */
  readonly dataDir: string | undefined
  readonly devnet: DevBehaviour
}

/** Creates the parts of a development chain (docs/dev-helpers.md). */
export const createDev = async (start: DevStart, options: DevOptions) => {
  const { opened, chain, pool, logger } = options
  const { time, choices, development } = start
  const { store, blocks, world } = opened
  const writer = await DevWriter.open({ development, chain, store, blocks, world, logger, onFatal: options.onFatal })
  const { engine, miner } = createMining(time, options)
  chain.onCommitted(() => {
    choices.onBlock()
  })
  let revision = 0
  writer.onReplaced(({ head }) => {
    revision++
    pool.reset(head.header)
  })
  pool.service.onPending(() => miner.onPending())
  const helpers = new DevHelpers({
    chain,
    store,
    world,
    writer,
    miner,
    time,
    choices,
    pool: devPool(pool),
    logger,
    throwsOnRevert: options.devnet.throwOnRevert ?? false,
    withoutEngine: work => engine.without(work),
    async trial({ raws, ...choices }) {
      const senders = await options.recovery.recoverMany(raws ?? [])
      const transactions = raws?.map((raw, at) => withSender(decodeTransaction(raw), senderOrThrow(senders[at])))
      const request = { ...engine.request(), ...choices, ...(transactions && { transactions }) }
      return chain.trial(request, AbortSignal.timeout(DEV_LIMITS.mineMs))
    },
  })
  return {
    engine,
    helpers,
    pool: answeringPool(pool.service, miner, choices),
    /** Differences of reads on such a chain. */
    reads: {
      timestampAfter: timestamp => time.timestampAfter(timestamp, miner.step),
      baseFeeAfter: header => choices.baseFeeAfter(header),
      revision: () => revision,
      onReplaced: listener => writer.onReplaced(listener),
    } satisfies DevReads,
    /** Milliseconds between blocks now; 0: blocks are made on request. */
    blockTimeMs: () => miner.mode.intervalMs,
    start: () =>
      miner.start(async () => {
        await engine.start()
        // A block proposed before a stop is decided before the miner requests another one.
        await untilIdle(engine, options.clock)
      }),
    async stop() {
      miner.stop()
      await engine.stop()
    },
    keepState: (path: string, teardown: Teardown) => keepState(path, helpers, logger, teardown),
  }
}

/** Creates the miner and the engine that decides its blocks; each uses the other. */
const createMining = (time: DevTime, options: DevOptions): { engine: DevEngine; miner: DevMiner } => {
  const { chain, pool, clock, logger } = options
  const { params } = options.genesis
  const engine: DevEngine = new DevEngine({
    ...options,
    store: options.opened.store,
    // The miner requests all blocks.
    params: { ...params, blockTimeMs: 0 },
    execution: {
      head: () => chain.head(),
      build(request, cancelled) {
        const timestamp = miner.timestampAfter(chain.headBlock.header.timestamp)
        return chain.build({ ...request, timestamp }, cancelled)
      },
      validate: (block, context, cancelled) => chain.validate(block, context, cancelled),
      commit: (block, certificate) => chain.commit(block, certificate),
      extend: (next, seal) => chain.extend(next, seal),
      flush: () => chain.flush(),
      decided: number => chain.decided(number),
      wantsBlock: () => miner.wantsBlock(),
    },
  })
  const miner: DevMiner = new DevMiner({
    chain,
    engine,
    pool: pool.side,
    time,
    blockTimeMs: params.blockTimeMs,
    sameTimestamps: options.devnet.sameTimestamps ?? false,
    clock,
    logger,
  })
  return { engine, miner }
}

/** Pool as the helpers of a development chain see it. */
const devPool = ({ service, reset }: PoolParts) => ({
  reset,
  drop: (hashes: readonly `0x${string}`[]) => service.drop(hashes),
  clear: () => service.clear(),
  waiting: () => {
    const { pending, queued } = service.content()
    return [...pending.values(), ...queued.values()].flat()
  },
  submit: (raw: Uint8Array) => service.submit(raw),
})

/** Pool as clients see it: with automine a submission resolves when its block is committed. */
const answeringPool = (
  service: PoolParts['service'],
  miner: DevMiner,
  settings: NextBlockSettings,
): ClientPoolPort => ({
  async submit(raw, sender) {
    checkGasLimit(raw, settings.current.gasLimit)
    const hash = await service.submit(raw, sender)
    if (miner.mode.automine) await miner.settled()
    return hash
  },
  get: hash => service.get(hash),
  nextNonce: address => service.nextNonce(address),
  counts: () => service.counts(),
  content: () => service.content(),
  onPending: listener => service.onPending(listener),
})

/** Refuses a transaction above a limit that `evm_setBlockGasLimit` has set; the pool knows the limit of the network only. */
const checkGasLimit = (raw: Uint8Array, limit: bigint | undefined): void => {
  if (limit === undefined) return
  // The pool tells why bytes are no transaction.
  const have = undefinedIfCoded(() => decodeTransaction(raw))?.gasLimit
  if (have !== undefined && have > limit) throw new CodedError<PoolError>({ code: 'GAS_LIMIT_TOO_HIGH', have, limit })
}
