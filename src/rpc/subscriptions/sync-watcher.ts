import type { ChainView } from '../../chain/store/types.ts'
import { encodeSyncStatus } from '../encode/block.ts'
import { notifyInTurns } from './notification-work.ts'
import { deliverNotification, encodeOnce, type SubscriptionEntry } from './subscription-entry.ts'

const SYNC_POLL_MS = 1_000

/** Subscriptions to the sync status. It has no event, so it is polled each second while there are subscribers. */
export const createSyncWatcher = (view: ChainView) => {
  const entries = new Set<SubscriptionEntry>()
  let timer: NodeJS.Timeout | undefined
  let last = 'false'

  const poll = (): void => {
    const text = syncJson(view)
    const changed = (text === 'false') !== (last === 'false')
    last = text
    const payload = encodeOnce(() => text)
    if (changed) notifyInTurns(entries, entry => deliverNotification(entry, payload))
  }
  const close = (): void => clearInterval(timer)

  return {
    get size(): number {
      return entries.size
    },

    /** Notifies of the status at once. */
    add(entry: SubscriptionEntry): void {
      if (entries.size === 0) {
        last = syncJson(view)
        timer = setInterval(poll, SYNC_POLL_MS).unref()
      }
      entries.add(entry)
      deliverNotification(
        entry,
        encodeOnce(() => last),
      )
    },

    delete(entry: SubscriptionEntry): void {
      if (entries.delete(entry) && entries.size === 0) close()
    },

    close,
  }
}

export type SyncWatcher = ReturnType<typeof createSyncWatcher>

const syncJson = (view: ChainView): string => {
  const status = view.syncing()
  if (status === false) return 'false'
  return JSON.stringify({ syncing: true, status: encodeSyncStatus(status) })
}
