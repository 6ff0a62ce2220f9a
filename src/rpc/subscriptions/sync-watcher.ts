import type { ChainView } from '../../chain/store/types.ts'
import { encodeSyncStatus } from '../encode/block.ts'
import { notifyInTurns } from './notification-work.ts'
import { deliverNotification, encodeOnce, type SubscriptionEntry } from './subscription-entry.ts'

const SYNC_POLL_MS = 1_000

/** Subscriptions to the sync status. It has no event, so it is polled each second while there are subscribers. */
export class SyncWatcher {
  readonly #view: ChainView
  readonly #entries = new Set<SubscriptionEntry>()
  #timer: NodeJS.Timeout | undefined
  #last = 'false'

  constructor(view: ChainView) {
    this.#view = view
  }

  get size(): number {
    return this.#entries.size
  }

  /** Notifies of the status at once. */
  add(entry: SubscriptionEntry): void {
    if (this.#entries.size === 0) {
      this.#last = syncJson(this.#view)
      this.#timer = setInterval(() => {
        this.#poll()
      }, SYNC_POLL_MS).unref()
    }
    this.#entries.add(entry)
    const text = this.#last
    deliverNotification(
      entry,
      encodeOnce(() => text),
    )
  }

  delete(entry: SubscriptionEntry): void {
    if (this.#entries.delete(entry) && this.#entries.size === 0) this.close()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #poll(): void {
    const text = syncJson(this.#view)
    const changed = (text === 'false') !== (this.#last === 'false')
    this.#last = text
    if (!changed) return
    const payload = encodeOnce(() => text)
    notifyInTurns(this.#entries, entry => deliverNotification(entry, payload))
  }
}

const syncJson = (view: ChainView): string => {
  const status = view.syncing()
  if (status === false) return 'false'
  return JSON.stringify({ syncing: true, status: encodeSyncStatus(status) })
}
