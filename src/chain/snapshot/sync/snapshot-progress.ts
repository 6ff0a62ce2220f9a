import type { Logger } from '@tandem/base/logger.ts'
import { SYNC_LIMITS } from '../../../config/limits/sync.ts'
import type { SyncStatus } from '../../store/types.ts'

type SnapshotCounts = Record<'chunks' | 'done' | 'accounts' | 'slots', number>

/** Progress of a snapshot import: for eth_syncing, and for a regular log line. */
export class SnapshotProgress {
  readonly #counts: SnapshotCounts
  readonly #nowMs: () => number
  readonly #logger: Logger
  readonly #startedMs: number
  #bytes = 0
  #doneHere = 0
  #toldMs: number

  constructor(counts: Readonly<SnapshotCounts>, nowMs: () => number, logger: Logger) {
    this.#counts = { ...counts }
    this.#nowMs = nowMs
    this.#logger = logger
    this.#startedMs = nowMs()
    this.#toldMs = this.#startedMs
  }

  /** The node's own chain is at genesis meanwhile. */
  status(highestBlock: number): SyncStatus {
    const states = { pulled: this.#counts.done, known: this.#counts.chunks }
    return { startingBlock: 0, currentBlock: 0, highestBlock, states }
  }

  get totals() {
    const seconds = (this.#nowMs() - this.#startedMs) / 1_000
    const { accounts, slots } = this.#counts
    return { accounts, slots, bytes: this.#bytes, seconds: Math.round(seconds * 10) / 10 }
  }

  imported({ accounts, slots }: { readonly accounts: number; readonly slots: number }, bytes: number): void {
    const counts = this.#counts
    counts.done++
    this.#doneHere++
    counts.accounts += accounts
    counts.slots += slots
    this.#bytes += bytes
    const nowMs = this.#nowMs()
    if (nowMs - this.#toldMs < SYNC_LIMITS.progressMs) return
    this.#toldMs = nowMs
    const perSecond = (this.#doneHere * 1_000) / Math.max(1, nowMs - this.#startedMs)
    const secondsLeft = Math.ceil((counts.chunks - counts.done) / perSecond)
    this.#logger.info({ ...this.totals, chunks: counts.done, of: counts.chunks, secondsLeft }, 'snapshot sync progress')
  }
}
