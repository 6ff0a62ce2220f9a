import { LIMITS } from '../../config/limits.ts'
import { TokenBucket } from '../../network/core/token-bucket.ts'
import { Lru } from '../../util/lru.ts'

interface Record {
  /** Requests of this part that it has not answered yet. */
  open: number
  hasDelivered: boolean
  holdMs: number
  heldUntilMs: number
}

/**
 * Peers as sources of blocks: whose word on its head counts. One that had not what it claimed to have is not listened to for a while,
 * each time for twice as long, so that a boaster costs nobody's time but its own; all others count as before.
 */
export class SyncPeers {
  readonly #records = new Lru<string, Record>(LIMITS.sync.sources)
  readonly #pace: TokenBucket

  constructor(nowMs: number) {
    this.#pace = new TokenBucket(LIMITS.sync.asks, nowMs)
  }

  /** Takes leave to ask for a range; false: not yet, a single peer would count it as a flood. */
  mayAsk(nowMs: number): boolean {
    return this.#pace.take(nowMs)
  }

  /** Whether its word counts now. */
  counts(peer: string, nowMs: number): boolean {
    return nowMs >= (this.#records.peek(peer)?.heldUntilMs ?? 0)
  }

  /** The heads of those whose word counts. */
  claims(
    peers: readonly { readonly id: string; readonly head: { readonly number: number } }[],
    nowMs: number,
  ): number[] {
    return peers.filter(({ id }) => this.counts(id, nowMs)).map(({ head }) => head.number)
  }

  /** Whether blocks of it proved to be final since it failed last. */
  hasDelivered(peer: string): boolean {
    return this.#records.peek(peer)?.hasDelivered ?? false
  }

  /** Whether nothing is asked of it at present. */
  isFree(peer: string): boolean {
    return (this.#records.peek(peer)?.open ?? 0) === 0
  }

  asked(peer: string): void {
    this.#of(peer).open++
  }

  /** To each `asked`, whatever came of it. */
  answered(peer: string): void {
    const record = this.#of(peer)
    record.open = Math.max(0, record.open - 1)
  }

  delivered(peer: string): void {
    const record = this.#of(peer)
    record.hasDelivered = true
    record.holdMs = 0
  }

  /** Several answers may fail at once: that is one failure. */
  failed(peer: string, nowMs: number): void {
    if (!this.counts(peer, nowMs)) return
    const { holdMs, holdCapMs } = LIMITS.sync
    const record = this.#of(peer)
    record.hasDelivered = false
    record.holdMs = Math.min(holdCapMs, Math.max(holdMs, 2 * record.holdMs))
    record.heldUntilMs = nowMs + record.holdMs
  }

  #of(peer: string): Record {
    const kept = this.#records.get(peer)
    if (kept !== undefined) return kept
    const record: Record = { open: 0, hasDelivered: false, holdMs: 0, heldUntilMs: 0 }
    this.#records.set(peer, record)
    return record
  }
}
