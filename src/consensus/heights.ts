import { assert } from '../util/assert.ts'
import type { WalRecord } from './core/types.ts'
import type { ConsensusEngineOptions } from './engine-types.ts'
import type { Journal } from './journal.ts'
import type { Life } from './life.ts'
import type { Loop } from './loop.ts'
import type { DecidedBlock, Head } from './ports.ts'
import type { QuarantineReason, RecoveredMemory } from './recovery.ts'
import type { Slots } from './slots.ts'
import type { Tally } from './tally.ts'
import type { Validator } from './validator.ts'
import type { Workbench } from './workbench.ts'

interface HeightsParts {
  readonly options: ConsensusEngineOptions
  readonly life: Life
  readonly journal: Journal
  readonly validator: Validator
  readonly slots: Slots
  readonly tally: Tally
  readonly work: Workbench
  readonly loop: Loop
}

/** A committee of one has nobody to wait for. */
const ALONE =
  'and no block comes, since nobody else can decide one. If no other node has seen a vote of the lost log, vouch for that with --trust-missing-log.'

/** From one height to the next: a decision is committed, its height ends in the log, and the next one opens. */
export class Heights {
  readonly #parts: HeightsParts
  #head: Head
  #committing: Promise<void> | null = null

  constructor(parts: HeightsParts) {
    this.#parts = parts
    this.#head = parts.options.ports.execution.head()
  }

  /** The last committed block. */
  get head(): Head {
    return this.#head
  }

  /** Takes over what the last life left behind; `open` begins the first height. */
  async restore({ head, quarantine }: RecoveredMemory): Promise<void> {
    const { options, journal } = this.#parts
    this.#head = head
    if (options.signer === null) return
    if (quarantine === null) await journal.open(head)
    else await this.#enterQuarantine(quarantine)
  }

  /** Opens the height after the head, with its records where a log has any. */
  open(records: readonly WalRecord[]): void {
    const { options, slots, validator, loop } = this.#parts
    const { hash, timestamp } = this.#head
    const number = this.#head.number + 1
    const nowMs = options.clock.nowMs()
    const committee = options.ports.committee.committee(number)
    assert(committee !== undefined, 'the committee of the next height is known')
    const { members } = committee
    const earliestMs = slots.next(timestamp, nowMs)
    const config = { number, parentHash: hash, members, index: validator.indexIn(committee), earliestMs }
    loop.feed({ type: 'newHeight', config, records, nowMs })
    if (slots.mayWantBlock && options.ports.execution.wantsBlock()) this.request()
  }

  /** Instant mode: somebody wants a block. */
  request(): void {
    const { options, slots, loop } = this.#parts
    slots.request()
    loop.feed({ type: 'request', nowMs: options.clock.nowMs() })
  }

  /** The block is final. */
  decided(decided: DecidedBlock): void {
    this.#committing = this.#parts.life.watch(this.#commit(decided))
  }

  /** Resolves when no commit is under way. */
  async settled(): Promise<void> {
    await this.#committing
  }

  /** Durable in the database first, then the log may forget its height and the next one opens. */
  async #commit({ block, certificate }: DecidedBlock): Promise<void> {
    const { options, life, journal, validator, slots, tally, work, loop } = this.#parts
    const { height } = loop
    assert(height !== null, 'a decision belongs to a height')
    const { hash } = block
    const { number, timestamp } = block.header
    const { members, index } = height.config
    tally.countDecision(certificate.round, work.elapsedMs)
    await options.ports.execution.commit(block, certificate)
    this.#head = { number, hash, timestamp, certificate }
    slots.committed(block)
    const maySpeak = validator.decided({ block, certificate }, { members }, height.learntFrom !== null)
    if (index >= 0 && !validator.isQuarantined) await journal.endHeight({ number, hash })
    if (maySpeak) await this.#leaveQuarantine()
    if (life.isRunning) this.open([])
  }

  async #enterQuarantine(reason: QuarantineReason): Promise<void> {
    const { options, journal, validator } = this.#parts
    const { trustMissingLog = false, logger, ports } = options
    const { number } = this.#head
    if (trustMissingLog) {
      logger.warn({ reason, number }, "voting without the log, on the operator's word")
      await journal.beginAfter(this.#head)
      return
    }
    const { upTo } = validator.quarantine(reason, number)
    const alone = ports.committee.committee(number + 1)?.members.length === 1
    logger.error(
      { reason, number, silentUpTo: upTo, alone },
      `the consensus log is missing or damaged: following only, ${alone ? ALONE : 'until others decided the heights this validator may have voted in'}`,
    )
  }

  async #leaveQuarantine(): Promise<void> {
    const { options, life, journal, validator } = this.#parts
    await journal.beginAfter(this.#head)
    if (!life.isRunning) return
    validator.release()
    options.logger.info({ number: this.#head.number + 1 }, 'voting again')
  }
}
