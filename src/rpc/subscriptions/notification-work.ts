import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { ComparedLog, type LogCriteria } from '../../chain/store/log-criteria.ts'
import type { LogEntry } from '../../chain/store/types.ts'
import { logJson } from '../encode/log.ts'
import {
  deliverNotification,
  encodeOnce,
  type NotificationPayload,
  type SubscriberConnection,
  type SubscriptionEntry,
} from './subscription-entry.ts'

/** Logs compared with criteria between two looks at the time. */
const LOGS_PER_LOOK = 64

interface ComparedNotice {
  readonly log: ComparedLog
  readonly payload: NotificationPayload
}

/** Returns subscriptions by their connection. */
export const byConnection = (
  entries: Iterable<SubscriptionEntry>,
): Map<SubscriberConnection, readonly SubscriptionEntry[]> => Map.groupBy(entries, ({ connection }) => connection)

/** Prepares the logs of a block for their comparison with criteria. */
export function* comparedLogs(logs: Iterable<LogEntry>, isRemoved: boolean): SlicedWork<readonly ComparedNotice[]> {
  const compared: ComparedNotice[] = []
  for (const log of logs) {
    compared.push({ log: new ComparedLog(log), payload: encodeOnce(() => logJson(log, log, isRemoved)) })
    if (compared.length % LOGS_PER_LOOK === 0) yield
  }
  return compared
}

/** Delivers the logs that each of the criteria matches. */
export function* logDeliveries(
  groups: readonly (readonly [LogCriteria, readonly SubscriptionEntry[]])[],
  logs: readonly ComparedNotice[],
): SlicedWork<void> {
  let compared = 0
  for (const [criteria, entries] of groups)
    for (const { log, payload } of logs) {
      if (log.matches(criteria))
        for (const entry of entries) {
          deliverNotification(entry, payload)
          yield
        }
      if (++compared % LOGS_PER_LOOK === 0) yield
    }
}

/** Calls `tell` with each of the subscriptions, as far as the turns of their clients have time. */
export const notifyInTurns = (entries: Iterable<SubscriptionEntry>, tell: (entry: SubscriptionEntry) => void): void => {
  for (const [{ queue }, own] of byConnection(entries)) queue.add(calls(own, tell))
}

function* calls(entries: readonly SubscriptionEntry[], tell: (entry: SubscriptionEntry) => void): SlicedWork<void> {
  for (const entry of entries) {
    tell(entry)
    yield
  }
}
