import { type Cancellation, Cancelled } from '@tandem/base/async/cancellation.ts'
import { Mutex } from '@tandem/base/async/mutex.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { DEV_LIMITS } from '../../config/limits/chain.ts'
import type { ConsensusEngine } from '../../consensus/engine/types.ts'
import { earliestProposalMs } from '../../consensus/timing/pacemaker.ts'
import { minTimestampStepSeconds } from '../../rules/header.ts'
import type { Chain } from '../chain.ts'
import { checkNotTooLate, type DevTime } from './dev-time.ts'

export type MinerError =
  | { readonly code: 'TOO_MANY_BLOCKS'; readonly limit: number }
  | { readonly code: 'PARENT_NOT_HEAD'; readonly head: Hex }
  /** The engine made no block within that time. */
  | { readonly code: 'NO_BLOCK'; readonly timeoutMs: number }

export interface MineOptions {
  readonly blocks: number
  /** Seconds between the blocks; by default the clock decides. */
  readonly interval?: number | undefined
  /** Applies the interval between the head and the first block, too. */
  readonly intervalFirst?: boolean
  /** Timestamp of the first block, unix seconds. */
  readonly timestamp?: number | undefined
  /** Ends the work between two blocks: of a client that is gone, no block is made. */
  readonly cancellation?: Cancellation | undefined
}

type TimestampAfter = (parentTimestamp: number) => number | undefined

/** Engine of a development chain, as the miner uses it. */
export interface DevMinerEngine extends Pick<ConsensusEngine, 'requestBlock'> {
  /** False: other validators sit in the committee, and decide too. */
  readonly isAlone: boolean
  /** Runs work that makes blocks, one or more by a call: `timestampAfter` returns that of the child of a block, undefined after the last. */
  makeBlocks(work: (extend: (timestampAfter: TimestampAfter) => Promise<void>) => Promise<void>): Promise<void>
}

interface DevMinerOptions {
  readonly chain: Pick<Chain, 'headBlock' | 'onCommitted'>
  /** In instant mode: makes a block on request. */
  readonly engine: DevMinerEngine
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

/** Decides when a development chain makes a block, in place of the engine's pacing. One task at a time, block, edit or revert. */
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
  /** Wall-clock times: of the last change of the interval, 0 once a block followed; and of the last interval block's slot. */
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
    if (mode.intervalMs !== undefined) this.#changedMs = this.#options.clock.nowMs()
    this.#schedule()
    this.onPending()
  }

  resetMode(): void {
    this.setMode(modeOf(this.#options.blockTimeMs))
  }

  /** Starts making blocks; `ready` resolves when the engine is idle. */
  start(ready: () => Promise<void>): Promise<void> {
    return this.#turn.run(async () => {
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

  /** Runs work between blocks. Throws Cancelled once stopped: the block that was requested may be in the log of the engine by then. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return this.#turn.run(() => {
      if (!this.#isRunning) throw new Cancelled()
      return work()
    })
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

  /** Makes blocks in turn. Throws TOO_MANY_BLOCKS, NO_BLOCK, TIMESTAMP_TOO_EARLY or TIMESTAMP_TOO_LATE, Cancelled; blocks before remain. */
  async mine(options: MineOptions): Promise<void> {
    const limit = DEV_LIMITS.mineBlocks
    if (options.blocks > limit) throw new CodedError<MinerError>({ code: 'TOO_MANY_BLOCKS', limit })
    const { engine } = this.#options
    await this.#turn.run(async () => {
      if (options.blocks > 1 && engine.isAlone) await engine.makeBlocks(extend => this.#mineMany(options, extend))
      else await this.#mineMany(options)
    })
    this.#schedule()
  }

  /** Without `extend` the engine decides block by block. */
  async #mineMany(options: MineOptions, extend?: (timestampAfter: TimestampAfter) => Promise<void>): Promise<void> {
    const { blocks, cancellation } = options
    const { chain, time } = this.#options
    // Explicitly requested blocks have increasing timestamps, as tests expect.
    const step = Math.max(1, this.step)
    const first = chain.headBlock.header.number + 1
    const made = () => chain.headBlock.header.number + 1 - first
    while (made() < blocks && this.#isRunning) {
      if (cancellation?.isCancelled === true) throw new Cancelled()
      const { timestamp: head } = chain.headBlock.header
      const timestamp = requestedTimestamp(options, made(), head)
      if (timestamp !== undefined) time.setNext(timestamp, head)
      if (extend === undefined) await this.#mineOne(step)
      else {
        this.#checkTime(step)
        await extend(this.#timestamps(options, blocks - made(), step))
        await sliceOver()
      }
    }
  }

  /** Timestamps of blocks that are made together, until the time slice is over or the next one needs the miner. */
  #timestamps({ interval }: MineOptions, most: number, step: number): TimestampAfter {
    const { time } = this.#options
    let made = 0
    return parent => {
      if (made++ === 0) return time.timestampAfter(parent, step)
      if (made > most || sliceOver() !== undefined || (time.hasNext && interval === undefined)) return undefined
      const timestamp = interval === undefined ? time.timestampAfter(parent, step) : parent + interval
      return timestamp > parent && timestamp <= DEV_LIMITS.lastTimestamp ? timestamp : undefined
    }
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
    this.#checkTime(step, dueMs)
    this.#askedStep = step
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timeoutMs = DEV_LIMITS.mineMs
    const cancel = clock.schedule(clock.nowMs() + timeoutMs, () =>
      reject(new CodedError<MinerError>({ code: 'NO_BLOCK', timeoutMs })),
    )
    this.#asked = { number: head.number + 1, dueMs, done: resolve }
    try {
      engine.requestBlock(time.wallMs(dueMs))
      await promise
    } finally {
      cancel()
      this.#asked = undefined
    }
  }

  /** Throws TIMESTAMP_TOO_LATE. */
  #checkTime(step: number, dueMs = 0): void {
    const { chain, time } = this.#options
    checkNotTooLate(time.timestampAfter(chain.headBlock.header.timestamp, step, dueMs))
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
    const { clock, time, chain } = this.#options
    if (this.#mode.intervalMs === 0 || !this.#isRunning) return
    // Otherwise no block would come until the wall clock has reached the head.
    time.catchUpWith(chain.headBlock.header.timestamp)
    this.#cancelTimer = clock.schedule(this.#dueMs(), () => this.#detach(this.#turn.run(() => this.#tick())))
  }

  /** Wall-clock time of the next interval block. Timestamps that step by an interval of their own say nothing about the time. */
  #dueMs(): number {
    const { intervalMs } = this.#mode
    const { time, chain } = this.#options
    const { timestamp } = chain.headBlock.header
    const earliestMs = time.hasInterval
      ? this.#lastSlotMs + intervalMs
      : time.wallMs(earliestProposalMs(intervalMs, timestamp, time.atWallMs(this.#lastSlotMs)))
    return Math.max(earliestMs, this.#changedMs === 0 ? 0 : this.#changedMs + intervalMs)
  }

  /** Other blocks made meanwhile have postponed the next one. */
  async #tick(): Promise<void> {
    const { intervalMs } = this.#mode
    const { time, blockTimeMs, clock } = this.#options
    const nowMs = clock.nowMs()
    const dueMs = this.#dueMs()
    try {
      if (intervalMs === 0 || nowMs < dueMs) return
      this.#changedMs = 0
      // A tick that is a little late does not delay those after it.
      this.#lastSlotMs = nowMs - dueMs < intervalMs ? dueMs : nowMs
      await this.#mineOne(minTimestampStepSeconds(Math.min(intervalMs, blockTimeMs)), time.atWallMs(dueMs))
    } finally {
      this.#schedule()
    }
  }

  #detach(work: Promise<void>): void {
    work.catch(error => this.#options.logger.error({ err: error }, 'block not produced'))
  }
}

const modeOf = (blockTimeMs: number): MiningMode => ({ automine: blockTimeMs === 0, intervalMs: blockTimeMs })

/** Returns the timestamp that was requested for the block at an index, unix seconds; undefined: the clock decides. */
const requestedTimestamp = (
  { interval, intervalFirst = false, timestamp }: MineOptions,
  index: number,
  parentTimestamp: number,
): number | undefined => {
  if (index === 0 && timestamp !== undefined) return timestamp
  return interval !== undefined && (index > 0 || intervalFirst) ? parentTimestamp + interval : undefined
}
