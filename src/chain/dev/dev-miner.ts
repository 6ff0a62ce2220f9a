import { DEV_LIMITS } from '../../config/limits/chain.ts'
import type { ConsensusEngine } from '../../consensus/engine/types.ts'
import { earliestProposalMs } from '../../consensus/timing/block-time.ts'
import { minTimestampStepSeconds } from '../../rules/timestamp.ts'
import { Mutex } from '../../util/async/mutex.ts'
import type { Clock } from '../../util/clock.ts'
import { CodedError } from '../../util/errors.ts'
import type { Logger } from '../../util/logger.ts'
import type { Chain } from '../chain.ts'
import { checkNotTooLate, type DevTime } from './dev-time.ts'

export type MinerError =
  | { readonly code: 'TOO_MANY_BLOCKS'; readonly limit: number }
  /** The engine made no block within that time. */
  | { readonly code: 'NO_BLOCK'; readonly timeoutMs: number }

interface DevMinerOptions {
  readonly chain: Pick<Chain, 'headBlock' | 'onCommitted'>
  /** In instant mode: makes a block on request. */
  readonly engine: Pick<ConsensusEngine, 'requestBlock' | 'headStartMs'>
  readonly pool: { hasExecutable(): boolean }
  readonly time: DevTime
  /** Block time of the network: 0 starts with a block per transaction, any other value with interval blocks. */
  readonly blockTimeMs: number
  /** Allows blocks made for transactions to share a timestamp. */
  readonly sameTimestamps: boolean
  readonly clock: Clock
  readonly logger: Logger
}

export interface MiningMode {
  /** Makes a block for each transaction immediately. */
  readonly automine: boolean
  /** Interval of blocks in milliseconds; 0: none. */
  readonly intervalMs: number
}

export interface MineOptions {
  readonly blocks: number
  /** Seconds between the blocks; by default the clock decides. */
  readonly interval?: number | undefined
  /** Applies the interval between the head and the first block, too. */
  readonly intervalFirst?: boolean
  /** Timestamp of the first block, unix seconds. */
  readonly timestamp?: number | undefined
}

/**
 * Decides when a development chain makes a block, in place of the engine's own pacing. One task at a time: a block from its request to
 * its commit, or work that must not overlap one (edits, reverts).
 */
export class DevMiner {
  readonly #options: DevMinerOptions
  readonly #turn = new Mutex()
  readonly #stops: (() => void)[] = []
  #mode: MiningMode
  /** Block requested from the engine and not committed yet. */
  #asked: { readonly number: number; readonly dueMs: number; readonly done: () => void } | undefined
  /** Seconds from the parent to the requested block. */
  #askedStep: number
  #pendingQueued = false
  #changedMs = 0
  #lastSlotMs = 0
  #cancelTimer: () => void = () => {}
  /** True between `start` and `stop`. */
  #isRunning = false

  constructor(options: DevMinerOptions) {
    this.#options = options
    this.#mode = modeOf(options.blockTimeMs)
    this.#askedStep = this.step
    this.#stops.push(options.chain.onCommitted(({ block }) => this.#onBlock(block.header)))
  }

  /** Smallest step in seconds from the parent to a block made for transactions. */
  get step(): number {
    const { blockTimeMs, sameTimestamps } = this.#options
    // Tests rely on time passing between transactions.
    return blockTimeMs === 0 && !sameTimestamps ? 1 : minTimestampStepSeconds(blockTimeMs)
  }

  get mode(): MiningMode {
    return this.#mode
  }

  setMode(mode: Partial<MiningMode>): void {
    this.#mode = { ...this.#mode, ...mode }
    if (mode.intervalMs !== undefined) this.#changedMs = this.#options.time.nowMs()
    this.#schedule()
    this.onPending()
  }

  resetMode(): void {
    this.setMode(modeOf(this.#options.blockTimeMs))
  }

  /** Starts making blocks; `ready` resolves when the engine is idle. */
  start(ready: () => Promise<void>): Promise<void> {
    return this.run(async () => {
      await ready()
      this.#isRunning = true
      this.#schedule()
      this.onPending()
    })
  }

  stop(): void {
    this.#isRunning = false
    this.#cancelTimer()
    for (const stop of this.#stops) stop()
    this.#asked?.done()
  }

  /** Runs work between blocks. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return this.#turn.run(work)
  }

  /** Resolves when all earlier tasks have ended: with automine a pooled transaction is then included. */
  settled(): Promise<void> {
    return this.#turn.run(async () => {})
  }

  /** Called by the engine before it makes a block. */
  wantsBlock(): boolean {
    return this.#asked !== undefined
  }

  /** Returns the timestamp of the requested block, unix seconds. */
  timestampAfter(parentTimestamp: number): number {
    return this.#options.time.timestampAfter(parentTimestamp, this.#askedStep, this.#asked?.dueMs)
  }

  /** Handles a new executable transaction. */
  onPending(): void {
    if (!this.#mode.automine || this.#pendingQueued || !this.#isRunning) return
    this.#pendingQueued = true
    this.#detach(this.#turn.run(() => this.#minePending()))
  }

  /** Makes blocks one after the other. Throws TOO_MANY_BLOCKS, NO_BLOCK, TIMESTAMP_TOO_EARLY or TIMESTAMP_TOO_LATE. */
  async mine({ blocks, interval, intervalFirst = false, timestamp }: MineOptions): Promise<void> {
    const limit = DEV_LIMITS.mineBlocks
    if (blocks > limit) throw new CodedError<MinerError>({ code: 'TOO_MANY_BLOCKS', limit })
    await this.#turn.run(async () => {
      for (let i = 0; i < blocks && this.#isRunning; i++) {
        const { timestamp: head } = this.#options.chain.headBlock.header
        if (i === 0 && timestamp !== undefined) this.#options.time.setNext(timestamp, head)
        else if (interval !== undefined && (i > 0 || intervalFirst)) this.#options.time.setNext(head + interval, head)
        // Explicitly requested blocks have increasing timestamps, as tests expect.
        await this.#mineOne(Math.max(1, this.step))
      }
    })
    this.#schedule()
  }

  async #minePending(): Promise<void> {
    const { pool, chain } = this.#options
    this.#pendingQueued = false
    if (!this.#mode.automine || !pool.hasExecutable()) return
    await this.#mineOne(this.step)
    // A transaction that no block includes would otherwise cause endless blocks; it waits for the next block.
    if (pool.hasExecutable() && chain.headBlock.transactions.length > 0) this.onPending()
  }

  /** `dueMs`: earliest proposal in this chain's time; the request may be sent before. */
  async #mineOne(step: number, dueMs = 0): Promise<void> {
    if (!this.#isRunning) return
    const { chain, engine, clock, time } = this.#options
    const head = chain.headBlock.header
    checkNotTooLate(time.timestampAfter(head.timestamp, step, dueMs))
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timeoutMs = DEV_LIMITS.mineMs
    const cancel = clock.schedule(clock.nowMs() + timeoutMs, () =>
      reject(new CodedError<MinerError>({ code: 'NO_BLOCK', timeoutMs })),
    )
    this.#askedStep = step
    this.#asked = { number: head.number + 1, dueMs, done: resolve }
    try {
      engine.requestBlock(time.wallMs(dueMs))
      await promise
    } finally {
      cancel()
      this.#asked = undefined
    }
  }

  #onBlock({ number, timestamp }: { readonly number: number; readonly timestamp: number }): void {
    this.#options.time.onBlock(timestamp)
    if (this.#asked?.number !== number) return
    const { done } = this.#asked
    // Synchronously: the engine opens the next height before any waiting task runs.
    this.#asked = undefined
    done()
  }

  #schedule(): void {
    this.#cancelTimer()
    const { clock, time, engine, chain } = this.#options
    if (this.#mode.intervalMs === 0 || !this.#isRunning) return
    // Otherwise no block would come until the wall clock has reached the head.
    time.catchUpWith(chain.headBlock.header.timestamp)
    this.#cancelTimer = clock.schedule(time.wallMs(this.#dueMs()) - engine.headStartMs, () =>
      this.#detach(this.#turn.run(() => this.#tick())),
    )
  }

  #dueMs(): number {
    const { intervalMs } = this.#mode
    const earliestMs = earliestProposalMs(intervalMs, this.#options.chain.headBlock.header.timestamp, this.#lastSlotMs)
    return Math.max(earliestMs, this.#changedMs === 0 ? 0 : this.#changedMs + intervalMs)
  }

  /** Other blocks made meanwhile have postponed the next one. */
  async #tick(): Promise<void> {
    const { intervalMs } = this.#mode
    const { time, engine, blockTimeMs } = this.#options
    const nowMs = time.nowMs()
    const dueMs = this.#dueMs()
    try {
      if (intervalMs === 0 || nowMs < dueMs - engine.headStartMs) return
      this.#changedMs = 0
      this.#lastSlotMs = Math.max(nowMs, dueMs)
      await this.#mineOne(minTimestampStepSeconds(Math.min(intervalMs, blockTimeMs)), dueMs)
    } finally {
      this.#schedule()
    }
  }

  #detach(work: Promise<void>): void {
    work.catch(error => this.#options.logger.error({ err: error }, 'block not produced'))
  }
}

const modeOf = (blockTimeMs: number): MiningMode => ({ automine: blockTimeMs === 0, intervalMs: blockTimeMs })
