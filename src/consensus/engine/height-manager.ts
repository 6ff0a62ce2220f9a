import { assert } from '@tandem/base/assert.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { WalRecord } from '../core/types.ts'
import type { ConsensusStats } from '../monitor/stats.ts'
import type { DecidedBlock, Head } from '../ports.ts'
import type { LocalValidator } from '../signer/local-validator.ts'
import type { Pacemaker } from '../timing/pacemaker.ts'
import type { QuarantineReason, RecoveredState } from '../wal/recovery.ts'
import type { WalWriter } from '../wal/wal-writer.ts'
import type { BlockProducer } from './block-producer.ts'
import type { Driver } from './driver.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { CatchUp, ConsensusEngineOptions, EngineStoppedError } from './types.ts'

interface HeightManagerParts {
  readonly options: ConsensusEngineOptions
  readonly lifecycle: Lifecycle
  readonly walWriter: WalWriter
  readonly validator: LocalValidator
  readonly pacemaker: Pacemaker
  readonly stats: ConsensusStats
  readonly producer: BlockProducer
  readonly driver: Driver
}

/** A committee of one cannot wait for others. */
const ALONE =
  'and no block is made, since there is no other validator. If no other node has seen a vote of the lost log, confirm that with --trust-missing-log.'

/** Moves from one height to the next: commits a decision, ends its height in the log, and opens the next one. */
export class HeightManager {
  readonly #parts: HeightManagerParts
  #head: Head
  #committing: Promise<void> | null = null
  /** Flush of the last block; never rejects. */
  #flushing: Promise<void> = Promise.resolve()
  #catchingUp = false

  constructor(parts: HeightManagerParts) {
    this.#parts = parts
    this.#head = parts.options.ports.execution.head()
  }

  /** Last committed block. */
  get head(): Head {
    return this.#head
  }

  /** Takes over the state recovered at start; `open` begins the first height. */
  async restore({ head, quarantine }: RecoveredState): Promise<void> {
    const { options, walWriter } = this.#parts
    this.#head = head
    if (options.signer === null) return
    if (quarantine === null) await walWriter.open(head)
    else await this.#enterQuarantine(quarantine)
  }

  /** Opens the height after the head, with its records when the log has any. */
  open(records: readonly WalRecord[]): void {
    const { options, pacemaker, validator, driver } = this.#parts
    const { hash, timestamp } = this.#head
    const number = this.#head.number + 1
    const nowMs = options.clock.nowMs()
    const committee = options.ports.committee.committee(number)
    assert(committee !== undefined, 'the committee of the next height is known')
    validator.opens(committee, this.#head, options.ports.committee.committee(this.#head.number))
    const earliestMs = pacemaker.next(timestamp, nowMs)
    const config = { number, parentHash: hash, ...committee, index: validator.indexIn(committee), earliestMs }
    driver.feed({ type: 'newHeight', config, records, nowMs })
    if (pacemaker.mayWantBlock && options.ports.execution.wantsBlock()) this.#requestBlock()
  }

  /** Instant mode: requests a block, not before `dueMs`. */
  request(dueMs: number): void {
    this.#parts.pacemaker.request(dueMs)
    this.#requestBlock()
  }

  get isCatchingUp(): boolean {
    return this.#catchingUp
  }

  /** Handles a final block. */
  decided(decided: DecidedBlock): void {
    const { lifecycle, driver } = this.#parts
    // The height was left meanwhile: block sync has committed the decision.
    if (this.#catchingUp || driver.height?.config.number !== decided.block.header.number) return
    this.#committing = lifecycle.watch(this.#commit(decided))
  }

  /** See `ConsensusEngine`. */
  async catchUp(work: CatchUp): Promise<void> {
    const { lifecycle, driver, producer } = this.#parts
    await this.#betweenCommits()
    if (!lifecycle.isRunning) throw stopped()
    assert(!this.#catchingUp, 'one catching up at a time')
    this.#catchingUp = true
    const before = this.#head.number
    const left = driver.leave()
    try {
      // Builds and validations under way are based on the head.
      await producer.settled()
      for (const record of left) if (record.type === 'decided') await this.#adopt(record)
      await work(decided => this.#adopt(decided))
    } finally {
      this.#catchingUp = false
      if (lifecycle.isRunning) await this.#tracked(() => lifecycle.watch(this.#reopen(before, left)))
    }
  }

  /** Resolves when no commit is under way and committed blocks are on disk. */
  async settled(): Promise<void> {
    await this.#committing
    await this.#flushing
  }

  /** A commit under way opens the next height, which may be decided at once. */
  async #betweenCommits(): Promise<void> {
    while (this.#committing !== null) {
      const committing = this.#committing
      await committing
      if (this.#committing === committing) this.#committing = null
    }
  }

  /** Makes `settled` wait for the action. */
  #tracked(action: () => Promise<void>): Promise<void> {
    const work = action()
    this.#committing = work.catch(() => {})
    return work
  }

  async #adopt({ block, certificate }: DecidedBlock): Promise<void> {
    const { options, lifecycle, validator, pacemaker } = this.#parts
    if (!lifecycle.isRunning) throw stopped()
    const { hash } = block
    const { number, timestamp } = block.header
    if (number <= this.#head.number) return
    try {
      await this.#tracked(() => options.ports.execution.commit(block, certificate))
      this.#head = { number, hash, timestamp, certificate }
      pacemaker.committed(block)
      const committee = options.ports.committee.committee(number)
      assert(committee !== undefined, 'the committee of a committed block is known')
      validator.decided({ block, certificate }, committee, true)
    } catch (error) {
      lifecycle.fail(error)
      throw error
    }
  }

  /** Opens the next height, or reopens the one that was left. */
  async #reopen(before: number, left: readonly WalRecord[]): Promise<void> {
    const { options, lifecycle, walWriter, validator } = this.#parts
    const isOvertaken = this.#head.number > before
    if (isOvertaken) await options.ports.execution.flush()
    if (isOvertaken && options.signer !== null && !validator.isQuarantined) await walWriter.beginAfter(this.#head)
    if (lifecycle.isRunning) this.open(isOvertaken ? [] : left)
  }

  #requestBlock(): void {
    const { options, driver } = this.#parts
    driver.feed({ type: 'request', nowMs: options.clock.nowMs() })
  }

  /**
   * Commits to the database first, then opens the next height. Until the block is on disk, the log can restore it. Only the next
   * commit, or a new log, waits for that flush, so at most one block is in doubt. A block of a committee without this validator is not in
   * its log, which may have no gap before the next one: it is flushed first.
   */
  async #commit({ block, certificate }: DecidedBlock): Promise<void> {
    const { options, lifecycle, walWriter, validator, pacemaker, stats, producer, driver } = this.#parts
    const { height } = driver
    assert(height !== null, 'a decision belongs to a height')
    const { hash } = block
    const { number, timestamp } = block.header
    const { members, index } = height.config
    stats.countDecision(certificate.round, producer.elapsedMs)
    // A lone validator has no others to keep up with, and decisions of others do not measure this node's speed.
    if (members.length > 1 && height.learntFrom === null) producer.decided()
    await this.#flushing
    await options.ports.execution.commit(block, certificate)
    this.#flushing = lifecycle.watch(options.ports.execution.flush())
    this.#head = { number, hash, timestamp, certificate }
    pacemaker.committed(block)
    const maySpeak = validator.decided({ block, certificate }, { members }, height.learntFrom !== null)
    if (index >= 0 && !validator.isQuarantined) await walWriter.endHeight({ number, hash })
    else if (options.signer !== null && !validator.isQuarantined) await this.#flushing
    if (maySpeak) await this.#leaveQuarantine()
    if (lifecycle.isRunning) this.open([])
  }

  async #enterQuarantine(reason: QuarantineReason): Promise<void> {
    const { options, walWriter, validator } = this.#parts
    const { trustMissingLog = false, logger, ports } = options
    const { number } = this.#head
    if (trustMissingLog) {
      logger.warn({ reason, number }, 'voting without the consensus log (--trust-missing-log)')
      validator.trustLostLog()
      await walWriter.beginAfter(this.#head)
      return
    }
    const { upTo } = validator.quarantine(number)
    const alone = ports.committee.committee(number + 1)?.members.length === 1
    // Neither blocks nor log, but a watermark: it was imported, as docs/keys.md says.
    if (reason === 'LOG_MISSING' && number === 0 && !alone) {
      logger.info(
        { number, silentUpTo: upTo },
        'this key signed on another node: following only, until others decided later blocks; then it votes here',
      )
      return
    }
    logger.error(
      { reason, number, silentUpTo: upTo, alone },
      `the consensus log is missing or damaged: following only, ${alone ? ALONE : 'until others decided the heights this validator may have voted in'}`,
    )
  }

  async #leaveQuarantine(): Promise<void> {
    const { options, lifecycle, walWriter, validator } = this.#parts
    await walWriter.beginAfter(this.#head)
    if (!lifecycle.isRunning) return
    validator.release()
    options.logger.info({ number: this.#head.number + 1 }, 'quarantine ended, voting again')
  }
}

const stopped = () => new CodedError<EngineStoppedError>({ code: 'ENGINE_STOPPED' })
