import type { Logger } from '@tandem/base/logger.ts'
import { SYNC_LIMITS } from '../../../config/limits/sync.ts'
import type { SyncStatus } from '../../store/types.ts'

type SnapshotCounts = Readonly<Record<'chunks' | 'done' | 'accounts' | 'slots', number>>

/** Progress of a snapshot import: for eth_syncing, and for a regular log line. */
export class SnapshotProgress {
  readonly #chunks: number
  readonly #nowMs: () => number
  readonly #logger: Logger
  readonly #startedMs: number
  #done: number
  #accounts: number
  #slots: number
  #bytes = 0
  #doneHere = 0
  #toldMs: number

  constructor(counts: SnapshotCounts, nowMs: () => number, logger: Logger) {
    this.#chunks = counts.chunks
    this.#done = counts.done
    this.#accounts = counts.accounts
    this.#slots = counts.slots
    this.#nowMs = nowMs
    this.#logger = logger
    this.#startedMs = nowMs()
    this.#toldMs = this.#startedMs
  }

  /** The node's own chain is at genesis meanwhile. */
  status(highestBlock: number): SyncStatus {
    const states = { pulled: this.#done, known: this.#chunks }
    return { startingBlock: 0, currentBlock: 0, highestBlock, states }
  }

  get totals() {
    const seconds = (this.#nowMs() - this.#startedMs) / 1_000
    return { accounts: this.#accounts, slots: this.#slots, bytes: this.#bytes, seconds: Math.round(seconds * 10) / 10 }
  }

  imported({ accounts, slots }: { readonly accounts: number; readonly slots: number }, bytes: number): void {
    this.#done++
    this.#doneHere++
    this.#accounts += accounts
    this.#slots += slots
    this.#bytes += bytes
    const nowMs = this.#nowMs()
    if (nowMs - this.#toldMs < SYNC_LIMITS.progressMs) return
    this.#toldMs = nowMs
    const perSecond = (this.#doneHere * 1_000) / Math.max(1, nowMs - this.#startedMs)
    const secondsLeft = Math.ceil((this.#chunks - this.#done) / perSecond)
    this.#logger.info({ ...this.totals, chunks: this.#done, of: this.#chunks, secondsLeft }, 'snapshot sync progress')
  }
}
