import { LIMITS } from '../../config/limits.ts'
import type { BlockCodec } from '../../primitives/block-codec.ts'
import type { Hex } from '../../util/bytes.ts'
import type { WalRecord } from '../core/types.ts'
import type { ConsensusEngineOptions } from '../engine/types.ts'
import type { ExecutionPort } from '../ports.ts'
import type { Watermark } from '../signer/watermark.ts'
import { GroupCommit } from './group-commit.ts'
import type { Wal } from './wal.ts'
import type { WalEntry } from './wal-format.ts'
import { encodeHeightRecord } from './wal-records.ts'

interface Place {
  readonly number: number
  readonly hash: Hex
}

/** The log and the watermark of an engine: what is recorded, and what must wait until it is durable (docs/design/consensus.md#write-ahead-log). */
export class WalWriter {
  readonly #wal: Wal
  readonly #watermark: Watermark
  readonly #blocks: BlockCodec
  readonly #execution: ExecutionPort
  readonly #groupCommit: GroupCommit
  /** Size from which the log of an open height is written anew; twice what was left of it the last time. */
  #longBytes: number = LIMITS.consensus.walBytes
  #shortening = false

  constructor({ wal, watermark, ports }: ConsensusEngineOptions, onError: (error: Error) => void) {
    this.#wal = wal
    this.#watermark = watermark
    this.#blocks = ports.blocks
    this.#execution = ports.execution
    this.#groupCommit = new GroupCommit(wal, watermark, onError)
  }

  record(record: WalRecord): void {
    const { type, payload } = encodeHeightRecord(record, this.#blocks)
    this.#wal.append(type, payload)
  }

  /** Runs once all that was recorded and signed so far is durable, in order; `flush` ends a turn. */
  whenDurable(action: () => void): void {
    this.#groupCommit.push(action)
  }

  /** What this turn says leaves only after this, which begins once all of it is durable. */
  hold(until: () => Promise<void>): void {
    this.#groupCommit.hold(until)
  }

  flush(): void {
    this.#groupCommit.flush()
  }

  /** A height is committed: its records are of no use any more. */
  async endHeight(place: Place): Promise<void> {
    this.#longBytes = LIMITS.consensus.walBytes
    // Not worth a sync: a log without its end costs a restart the reading of one height.
    this.record(endOf(place))
    if (this.#wal.sizeBytes < LIMITS.consensus.walBytes / 2) return
    await this.beginAfter(place)
  }

  /** Makes a log and a watermark where there are none yet, in this order, so that a log that is missing later is known to be lost. */
  async open(head: Place): Promise<void> {
    if (this.#wal.condition === 'missing') await this.beginAfter(head)
    await this.#watermark.create()
  }

  /** A height that does not end fills the log: time to shorten it. */
  get isLong(): boolean {
    return !this.#shortening && this.#wal.sizeBytes > this.#longBytes
  }

  /** Writes the log anew with what `memory` answers once no write is under way, which must cover all that was recorded until then. */
  async shorten(memory: () => readonly WalRecord[]): Promise<void> {
    this.#shortening = true
    await this.#anew(() => memory().map(record => encodeHeightRecord(record, this.#blocks)))
    this.#longBytes = Math.max(LIMITS.consensus.walBytes, 2 * this.#wal.sizeBytes)
    this.#shortening = false
  }

  /** Whatever the log says, it starts anew after this block. */
  async beginAfter(place: Place): Promise<void> {
    await this.#anew(() => [encodeHeightRecord(endOf(place), this.#blocks)])
  }

  /** A log must never begin after a block that the database may still lose. */
  async #anew(entries: () => readonly WalEntry[]): Promise<void> {
    await this.#groupCommit.exclusively(async () => {
      await this.#execution.flush()
      while (this.#wal.isDirty) await this.#wal.take()()
      await this.#wal.reset(entries())
    })
  }

  /** Nothing leaves any more; resolves when no write is under way. */
  async silence(): Promise<void> {
    await this.#groupCommit.close()
  }

  /** `write`: what still waits is written first. */
  async close({ write }: { readonly write: boolean }): Promise<void> {
    if (write) for (const store of [this.#wal, this.#watermark]) await store.take()()
    await this.#wal.close()
    await this.#watermark.close()
  }
}

const endOf = ({ number, hash }: Place): WalRecord => ({ type: 'end', number, blockHash: hash })
