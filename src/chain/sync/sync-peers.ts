import { getOrMake } from '@tandem/base/get-or-make.ts'
import { Lru } from '@tandem/base/lru.ts'
import { SYNC_LIMITS } from '../../config/limits/sync.ts'

interface Record {
  /** Requests of block sync that the peer has not answered yet. */
  open: number
  hasDelivered: boolean
  holdMs: number
  heldUntilMs: number
}

/** Peers as sources of blocks. One that lacked the blocks it claimed is put on hold, each time twice as long. */
export class SyncPeers {
  readonly #records = new Lru<string, Record>(SYNC_LIMITS.sources)

  /** Returns true when the peer is not on hold. */
  counts(peer: string, nowMs: number): boolean {
    return nowMs >= (this.#records.peek(peer)?.heldUntilMs ?? 0)
  }

  /** Returns the heads of the peers that count. */
  claims(
    peers: readonly { readonly id: string; readonly head: { readonly number: number } }[],
    nowMs: number,
  ): number[] {
    return peers.filter(({ id }) => this.counts(id, nowMs)).map(({ head }) => head.number)
  }

  /** Returns true when blocks of the peer proved final since its last failure. */
  hasDelivered(peer: string): boolean {
    return this.#records.peek(peer)?.hasDelivered ?? false
  }

  /** Returns true when no request to the peer is under way. */
  isFree(peer: string): boolean {
    return (this.#records.peek(peer)?.open ?? 0) === 0
  }

  asked(peer: string): void {
    this.#of(peer).open++
  }

  /** Called once for each `asked`, whatever the outcome. */
  answered(peer: string): void {
    const record = this.#of(peer)
    record.open = Math.max(0, record.open - 1)
  }

  delivered(peer: string): void {
    const record = this.#of(peer)
    record.hasDelivered = true
    record.holdMs = 0
  }

  /** Counts several failures at once as one. */
  failed(peer: string, nowMs: number): void {
    if (!this.counts(peer, nowMs)) return
    const { holdMs, holdCapMs } = SYNC_LIMITS
    const record = this.#of(peer)
    record.hasDelivered = false
    record.holdMs = Math.min(holdCapMs, Math.max(holdMs, 2 * record.holdMs))
    record.heldUntilMs = nowMs + record.holdMs
  }

  #of(peer: string): Record {
    return getOrMake(this.#records, peer, () => ({ open: 0, hasDelivered: false, holdMs: 0, heldUntilMs: 0 }))
  }
}
