import { randomBytes } from 'node:crypto'
import type { Cancellation } from '@tandem/base/async/cancellation.ts'
import type { SlicedQueue } from '@tandem/base/async/sliced-queue.ts'
import { asBuffer, copyBytes, type Hex } from '@tandem/base/bytes.ts'
import type { Meter } from '@tandem/base/client-budget.ts'
import type { LogCriteria } from '../../chain/store/log-criteria.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import type { Shared } from './shared-criteria.ts'

/** Random id of a filter or subscription, unguessable: at most 32 digits, without leading zeros. */
export const randomId = (): Hex => {
  const hex = asBuffer(randomBytes(16)).toString('hex').replace(/^0+/, '')
  return `0x${hex === '' ? '0' : hex}`
}

/** First notification that is wanted: a block, and for logs an index in it. */
export interface ResumePoint {
  readonly block: number
  readonly log: number
}

export type Subscription =
  | { readonly kind: 'newHeads'; readonly from?: ResumePoint | undefined }
  | { readonly kind: 'logs'; readonly criteria: LogCriteria; readonly from?: ResumePoint | undefined }
  | { readonly kind: 'newPendingTransactions'; readonly full: boolean }
  | { readonly kind: 'syncing' }
  | { readonly kind: 'newProofHeaders' }
  | { readonly kind: 'newWork'; readonly coinbase: Hex | undefined }

/** Sending half of a connection. */
export interface ConnectionOutput {
  readonly send: (frame: Buffer) => void
  /** Returns a promise to await before more is sent than the reader takes; undefined while it keeps up. */
  readonly drained: () => Promise<void> | undefined
  /** Ends the connection with a reason of at most 123 bytes. */
  readonly drop: (reason: string) => void
}

/** WebSocket connection with its subscriptions. */
export interface SubscriberConnection {
  readonly client: string
  readonly entries: Map<Hex, SubscriptionEntry>
  readonly output: ConnectionOutput
  /** Notifications that wait for their client's turn. */
  readonly queue: SlicedQueue
  /** Bytes of notifications that wait until their id is sent. */
  heldBytes: number
  /** Cancelled when the connection is closed. */
  readonly closed: Cancellation
}

/** One subscription of a connection. */
export interface SubscriptionEntry {
  readonly subscription: Subscription
  /** Bytes of the frame up to the result. */
  readonly prefix: Uint8Array
  readonly connection: SubscriberConnection
  /** Criteria of a log subscription. */
  readonly shared: Shared | undefined
  /** Its share of the client's budget. */
  readonly meter: Meter
  /** Notifications held back; null once the id was sent. */
  held: Buffer[] | null
  isRemoved: boolean
  /** Number of blocks whose logs are not for it, since they came before. */
  earlierLogs: number
}

/** Content of a notification, encoded at most once for all subscribers. */
export type NotificationPayload = () => Buffer

/** Encodes when first needed. */
export const encodeOnce = (render: () => string): NotificationPayload => {
  let bytes: Buffer | undefined
  return () => {
    bytes ??= Buffer.from(`${render()}}}`)
    return bytes
  }
}

/** Copied, since it lives as long as the subscription: a view of Node's buffer pool would retain 64 KiB. */
export const framePrefix = (namespace: string, id: Hex): Uint8Array =>
  copyBytes(
    Buffer.from(`{"jsonrpc":"2.0","method":"${namespace}_subscription","params":{"subscription":"${id}","result":`),
  )

/** Sends a notification, or holds it back until the id of the subscription was sent. */
export const deliverNotification = (entry: SubscriptionEntry, payload: NotificationPayload): void => {
  const { connection, held } = entry
  if (entry.isRemoved) return
  const frame = Buffer.concat([entry.prefix, payload()])
  if (held === null) connection.output.send(frame)
  // Beyond the limit of unread bytes of a connection nothing more is held back for it.
  else if (connection.heldBytes + frame.byteLength <= RPC_LIMITS.socketBacklogBytes) {
    connection.heldBytes += frame.byteLength
    held.push(frame)
  }
}
