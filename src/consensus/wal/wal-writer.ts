import type { Hex } from '@tandem/base/bytes.ts'
import { CONSENSUS_LIMITS } from '../../config/limits/consensus.ts'
import type { BlockCodec } from '../../primitives/block.ts'
import type { WalRecord } from '../core/types.ts'
import type { ExecutionPort } from '../ports.ts'
import type { Wal } from './wal.ts'
import type { WalEntry } from './wal-format.ts'
import { encodeHeightRecord } from './wal-records.ts'
import type { Watermark } from './watermark.ts'

interface Place {
  readonly number: number
  readonly hash: Hex
}

/** Log and watermark of an engine: records, and actions that wait until they are durable (docs/design/consensus.md#write-ahead-log). */
export class WalWriter {
  readonly #wal: Wal
  readonly #watermark: Watermark
  readonly #blocks: BlockCodec
  readonly #execution: ExecutionPort
  readonly #groupCommit: GroupCommit
  /** Size from which the log of an open height is rewritten; twice the size after the last rewrite. */
  #longBytes: number = CONSENSUS_LIMITS.walBytes
  #shortening = false
  /** Records are of no use until the log begins anew. */
  #isDiscarded = false

  constructor(
    {
      wal,
      watermark,
      ports,
    }: { wal: Wal; watermark: Watermark; ports: { readonly blocks: BlockCodec; readonly execution: ExecutionPort } },
    onError: (error: Error) => void,
  ) {
    this.#wal = wal
    this.#watermark = watermark
    this.#blocks = ports.blocks
    this.#execution = ports.execution
    this.#groupCommit = new GroupCommit(wal, watermark, onError)
  }

  record(record: WalRecord): void {
    if (this.#isDiscarded) return
    const { type, payload } = encodeHeightRecord(record, this.#blocks)
    this.#wal.append(type, payload)
  }

  /** Runs in order once all records and signatures so far are durable; `flush` ends a turn. */
  whenDurable(action: () => void): void {
    this.#groupCommit.push(action)
  }

  /** Delays the messages of this turn until this has resolved; it starts once they are durable. */
  hold(until: () => Promise<void>): void {
    this.#groupCommit.hold(until)
  }

  flush(): void {
    this.#groupCommit.flush()
  }

  /** Ends a committed height: its records are no longer needed. */
  async endHeight(place: Place): Promise<void> {
    this.#longBytes = CONSENSUS_LIMITS.walBytes
    // Not worth a sync: without this record a restart reads one more height.
    this.record(endOf(place))
    if (this.#wal.sizeBytes < CONSENSUS_LIMITS.walBytes / 2) return
    await this.beginAfter(place)
  }

  /** Creates a missing log and then a missing watermark, in this order, so that a log missing later is known to be lost. */
  async open(head: Place): Promise<void> {
    if (this.#wal.condition === 'missing') await this.beginAfter(head)
    await this.#watermark.create()
  }

  /** True when an undecided height fills the log and it should be shortened. */
  get isLong(): boolean {
    return !this.#shortening && this.#wal.sizeBytes > this.#longBytes
  }

  /** Rewrites the log with the result of `memory` once no write is under way; it must cover all records until then. */
  async shorten(memory: () => readonly WalRecord[]): Promise<void> {
    this.#shortening = true
    await this.#anew(() => memory().map(record => encodeHeightRecord(record, this.#blocks)))
    this.#longBytes = Math.max(CONSENSUS_LIMITS.walBytes, 2 * this.#wal.sizeBytes)
    this.#shortening = false
  }

  /** Replaces the log by one that begins after this block. */
  async beginAfter(place: Place): Promise<void> {
    await this.#anew(() => [encodeHeightRecord(endOf(place), this.#blocks)])
  }

  /** Empties a log that lacks earlier votes of its key, so that the next start knows as well. */
  async discard(): Promise<void> {
    this.#isDiscarded = true
    await this.#groupCommit.exclusively(() => this.#wal.discard())
  }

  /** A log must never begin after a block that the database may still lose. */
  async #anew(entries: () => readonly WalEntry[]): Promise<void> {
    await this.#groupCommit.exclusively(async () => {
      await this.#execution.flush()
      while (this.#wal.isDirty) await this.#wal.take()()
      await this.#wal.reset(entries())
      this.#isDiscarded = false
    })
  }

  /** Stops all outgoing actions; resolves when no write is under way. */
  async silence(): Promise<void> {
    await this.#groupCommit.close()
  }

  /** `write`: waiting records are written first. */
  async close({ write }: { readonly write: boolean }): Promise<void> {
    if (write) for (const store of [this.#wal, this.#watermark]) await store.take()()
    await this.#wal.close()
    await this.#watermark.close()
  }
}

const endOf = ({ number, hash }: Place): WalRecord => ({ type: 'end', number, blockHash: hash })

/** File of records that wait to be written. */
interface Syncable {
  readonly isDirty: boolean
  /** Takes the waiting records; the returned function writes them and resolves when they are durable. Later records are not part of it. */
  take(): () => Promise<void>
}

/**
 * Persist before send (docs/design/consensus.md#write-ahead-log): outgoing messages wait here until everything logged so far is durable.
 * All records of one event-loop turn share one sync of the log.
 *
 * The watermark follows the log, and messages leave when both are durable: a last batch that cannot be read any more then shows as a log
 * that is behind. Not at the same time: ahead of a log whose batch was never written, the watermark would look like a lost log.
 *
 * Cost: a committee of one proposes, receives its own votes and decides in one turn, so its proposal, prepare, commit and decision are one
 * batch: one wait per height. With others, the proposer's proposal and prepare share one, its commit and the decision take one each.
 */
export class GroupCommit {
  readonly #log: Syncable
  readonly #watermark: Syncable
  readonly #onError: (error: Error) => void
  #waiting: (() => void)[] = []
  #hold: (() => Promise<void>) | null = null
  #flushing: Promise<void> | null = null
  #closed = false

  constructor(log: Syncable, watermark: Syncable, onError: (error: Error) => void) {
    this.#log = log
    this.#watermark = watermark
    this.#onError = onError
  }

  push(action: () => void): void {
    this.#waiting.push(action)
  }

  /** Delays the waiting actions, and those pushed before the next flush: they are made durable as usual, and then also wait for `until`. */
  hold(until: () => Promise<void>): void {
    this.#hold = until
  }

  /** Called at the end of a turn. Actions run in order; immediately when there is nothing to make durable. */
  flush(): void {
    if (this.#flushing !== null || this.#waiting.length === 0 || this.#closed) return
    if (!this.#log.isDirty && !this.#watermark.isDirty && this.#hold === null) {
      this.#take().release()
      return
    }
    this.#flushing = this.#drain().finally(() => {
      this.#flushing = null
      this.flush()
    })
  }

  /** Drops all waiting actions; resolves when no sync is under way. Logged records stay logged. */
  async close(): Promise<void> {
    this.#closed = true
    this.#waiting = []
    await this.#flushing
  }

  /** Runs once no sync is under way, and prevents others meanwhile. */
  async exclusively(action: () => Promise<void>): Promise<void> {
    while (this.#flushing !== null) await this.#flushing
    this.#flushing = action().finally(() => {
      this.#flushing = null
    })
    await this.#flushing
    this.flush()
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#take()
        const log = this.#log.take()
        const mark = this.#watermark.take()
        await log()
        await mark()
        await batch.held()
        if (this.#closed) return
        batch.release()
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    this.#closed = true
    this.#onError(error instanceof Error ? error : new Error(String(error)))
  }

  #take(): { readonly held: () => Promise<void>; readonly release: () => void } {
    const actions = this.#waiting
    const held = this.#hold ?? (async () => {})
    this.#waiting = []
    this.#hold = null
    return {
      held,
      release: () => {
        for (const action of actions) action()
      },
    }
  }
}
