import { setImmediate } from 'node:timers/promises'
import { assert } from '@tandem/base/assert.ts'
import { Cancellation, Cancelled } from '@tandem/base/async/cancellation.ts'
import type { FairSemaphore } from '@tandem/base/async/fair-semaphore.ts'
import { SlicedQueue } from '@tandem/base/async/sliced-queue.ts'
import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { logEntries, loggedBlock } from '../../chain/logs/log-query.ts'
import { criteriaBytes, EVERY_LOG, type LogCriteria } from '../../chain/store/log-criteria.ts'
import type { ChainReplaced, ChainView, CommittedEvent, LogEntry } from '../../chain/store/types.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import { decodeProofHeader, proofHeaderId } from '../../primitives/proof-header.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'
import type { ClientPoolPort } from '../../txpool/pool-service.ts'
import { encodeProofHeaderInfo, headerJson } from '../encode/block.ts'
import { logJson } from '../encode/log.ts'
import { transactionJson } from '../encode/transaction.ts'
import { noSubscription, serverError } from '../errors.ts'
import type { MiningPort, ProofChainPort } from '../ports.ts'
import { type Budgets, criteriaFull } from '../router/budgets.ts'
import { createSlots } from '../router/slots.ts'
import { byConnection, comparedLogs, logDeliveries, notifyInTurns } from './notification-work.ts'
import { checkResume, Resume } from './resume.ts'
import type { SharedCriteria } from './shared-criteria.ts'
import {
  type ConnectionOutput,
  deliverNotification,
  encodeOnce,
  framePrefix,
  type NotificationPayload,
  randomId,
  type SubscriberConnection,
  type Subscription,
  type SubscriptionEntry,
} from './subscription-entry.ts'
import { createSyncWatcher, type SyncWatcher } from './sync-watcher.ts'

/** Subscription operations on the connection of the request. */
export interface SocketSubscriptions {
  /** Notifications are held back until the response with the id has been sent. */
  subscribe(namespace: string, subscription: Subscription): Hex
  unsubscribe(id: Hex): boolean
}

/** Subscriptions created while one message is handled. */
export interface MessageScope extends SocketSubscriptions {
  /** Sends the notifications that were held back; called when the response is on its way. */
  release(): void
}

/** One connection's side of the hub. */
export interface SocketSession {
  /** Returns the scope of a message whose response may follow that of the next message. */
  scope(): MessageScope
  close(): void
}

/** Owner of work that is for all clients. */
const NODE = ''

/** Reasons of a close. */
const TOO_MANY = 'more notifications than can be sent: end some subscriptions'
const NOT_RESUMED = 'blocks for a resumed subscription could not be read: subscribe again later'

interface HubOptions {
  readonly view: ChainView
  readonly pool: ClientPoolPort
  readonly budgets: Pick<Budgets, 'criteria' | 'memory'>
  readonly criteria: SharedCriteria
  /** Left out where there is no proof chain: nothing is notified of it then. */
  readonly proofChain?: Pick<ProofChainPort, 'header'>
  /** Left out where no work is handed out. */
  readonly mining?: Pick<MiningPort, 'work' | 'onWork'>
  /** Returns a promise to await before more notifications to a client; by default its share of the main thread decides. */
  readonly pauseIfDue?: (client: string) => Promise<void> | undefined
}

/** Delivers events of the chain and the pool to the subscribed connections. */
export class SubscriptionHub {
  readonly #options: HubOptions
  /** Subscriptions without a state of their own, by kind. */
  readonly #plain = {
    newHeads: new Set<SubscriptionEntry>(),
    newPendingTransactions: new Set<SubscriptionEntry>(),
    newProofHeaders: new Set<SubscriptionEntry>(),
  }
  readonly #syncing: SyncWatcher
  /** Subscriptions to work, with the seal hash sent last. */
  readonly #work = new Map<SubscriptionEntry, Hex | undefined>()
  /** Subscribers with equal criteria share the matching. */
  readonly #logs = new Map<Hex, { readonly criteria: LogCriteria; readonly entries: Set<SubscriptionEntry> }>()
  /** Subscriptions that are sent what came before them. */
  readonly #resumes = new Map<SubscriptionEntry, Resume>()
  readonly #resumeSlots: FairSemaphore
  /** Head of the last event. */
  #head: number
  /** Logs of blocks, prepared in order. */
  #logQueue = this.#createLogQueue()
  /** Blocks whose logs were, or are to be, delivered. */
  #loggedBlocks = 0
  readonly #stops: (() => void)[]

  constructor(options: HubOptions) {
    const { view, pool, budgets, mining } = options
    this.#options = options
    this.#syncing = createSyncWatcher(view)
    this.#head = view.head().header.number
    this.#resumeSlots = createSlots(RPC_LIMITS.resumes, 'subscriptions', budgets.memory)
    this.#stops = [
      view.onCommitted(event => this.#onCommitted(event)),
      pool.onPending(transaction => this.#onPending(transaction)),
      mining?.onWork(() =>
        notifyInTurns(this.#work.keys(), entry => {
          if (entry.subscription.kind === 'newWork' && !entry.isRemoved)
            this.#sendWork(entry, entry.subscription.coinbase)
        }),
      ) ?? (() => {}),
      view.onReplaced?.(event => this.#onReplaced(event)) ?? (() => {}),
    ]
  }

  #pauseIfDue(client: string): Promise<void> | undefined {
    return (this.#options.pauseIfDue ?? sliceOver)(client)
  }

  get size(): number {
    let size = this.#syncing.size + this.#work.size + this.#resumes.size
    for (const { entries } of this.#logs.values()) size += entries.size
    for (const entries of Object.values(this.#plain)) size += entries.size
    return size
  }

  /** Closes the output when more notifications wait for the connection than it may have. */
  open(output: ConnectionOutput, client: string): SocketSession {
    const entries = new Map<Hex, SubscriptionEntry>()
    const queue = new SlicedQueue({
      pauseIfDue: () => this.#pauseIfDue(client),
      limit: RPC_LIMITS.waitingEvents,
      onEnd: () => output.drop(TOO_MANY),
    })
    const connection: SubscriberConnection = {
      ...{ client, entries, output, queue },
      ...{ heldBytes: 0, closed: new Cancellation() },
    }
    return {
      scope: () => this.#scope(connection),
      close: () => {
        connection.closed.cancel()
        queue.end()
        for (const entry of entries.values()) this.#remove(entry)
        entries.clear()
      },
    }
  }

  #scope(connection: SubscriberConnection): MessageScope {
    const { entries, output } = connection
    const fresh: SubscriptionEntry[] = []
    return {
      subscribe: (namespace, subscription) => {
        // A batch continues after its connection has closed; a subscription started then would never end.
        if (connection.closed.isCancelled) throw serverError('connection closed')
        if (entries.size >= RPC_LIMITS.subscriptionsPerSocket)
          throw serverError(
            `Maximum ${RPC_LIMITS.subscriptionsPerSocket} subscriptions are allowed for a websocket connection.`,
          )
        if (subscription.kind === 'newWork' && this.#options.mining === undefined)
          throw noSubscription(namespace, 'newWork')
        const from = 'from' in subscription ? subscription.from : undefined
        if (from !== undefined) checkResume(this.#options.view, from)
        const id = randomId()
        const entry = this.#entry(subscription, framePrefix(namespace, id), connection)
        entries.set(id, entry)
        fresh.push(entry)
        if (from === undefined) this.#add(entry)
        else this.#resumes.set(entry, new Resume(entry, from))
        return id
      },
      unsubscribe: id => {
        const entry = entries.get(id)
        if (entry === undefined) return false
        entries.delete(id)
        this.#remove(entry)
        return true
      },
      release: () => {
        for (const entry of fresh.splice(0)) {
          const held = entry.held ?? []
          entry.held = null
          for (const frame of held) {
            connection.heldBytes -= frame.byteLength
            output.send(frame)
          }
          const resume = this.#resumes.get(entry)
          if (resume !== undefined) void this.#run(resume)
        }
      },
    }
  }

  close(): void {
    for (const stop of this.#stops) stop()
    this.#syncing.close()
  }

  /** Throws when the client's budget or the total has no room. */
  #entry(subscription: Subscription, prefix: Uint8Array, connection: SubscriberConnection): SubscriptionEntry {
    const { client } = connection
    const { budgets, criteria } = this.#options
    const meter = budgets.criteria.meter(client)
    const needed = RPC_LIMITS.filterBytes + (subscription.kind === 'logs' ? criteriaBytes(subscription.criteria) : 0)
    if (!meter.hold(needed)) throw criteriaFull(client, needed, budgets.criteria)
    const entry = {
      subscription,
      prefix,
      connection,
      shared: undefined,
      meter,
      held: [],
      isRemoved: false,
      earlierLogs: this.#loggedBlocks,
    }
    if (subscription.kind !== 'logs') return entry
    const shared = criteria.take(subscription.criteria)
    return { ...entry, subscription: { ...subscription, criteria: shared.criteria }, shared }
  }

  #add(entry: SubscriptionEntry): void {
    const { subscription, shared } = entry
    switch (subscription.kind) {
      case 'newHeads':
      case 'newPendingTransactions':
      case 'newProofHeaders':
        this.#plain[subscription.kind].add(entry)
        return
      case 'syncing':
        this.#syncing.add(entry)
        return
      case 'newWork':
        this.#work.set(entry, undefined)
        this.#sendWork(entry, subscription.coinbase)
        return
      case 'logs': {
        assert(shared !== undefined, 'logs are looked for by criteria')
        const { key, criteria } = shared
        getOrMake(this.#logs, key, () => ({ criteria, entries: new Set() })).entries.add(entry)
      }
    }
  }

  #remove(entry: SubscriptionEntry): void {
    entry.isRemoved = true
    for (const entries of Object.values(this.#plain)) entries.delete(entry)
    this.#work.delete(entry)
    this.#syncing.delete(entry)
    this.#resumes.delete(entry)
    entry.meter.hold(0)
    const { shared } = entry
    if (shared === undefined) return
    const group = this.#logs.get(shared.key)
    group?.entries.delete(entry)
    if (group?.entries.size === 0) this.#logs.delete(shared.key)
    shared.release()
  }

  #onReplaced({ head, removedLogs }: ChainReplaced): void {
    this.#head = head.header.number
    if (removedLogs === undefined) return
    for (const resume of this.#resumes.values()) resume.goBack(this.#head, removedLogs)
    this.#deliverLogs(removedLogs, true)
  }

  /** Sends what a subscription missed, then lets it take part in the events. Drops its connection when blocks cannot be read. */
  async #run(resume: Resume): Promise<void> {
    const { entry } = resume
    const { connection } = entry
    try {
      while (!entry.isRemoved) {
        const removed = resume.nextRemoved()
        if (removed !== undefined) {
          await this.#sendMissed(
            entry,
            encodeOnce(() => logJson(removed, removed, true)),
          )
        } else if (resume.next.block > this.#head) {
          this.#resumes.delete(entry)
          entry.earlierLogs = this.#loggedBlocks
          this.#add(entry)
          return
        } else await this.#sendPart(resume)
      }
    } catch (error) {
      if (!(error instanceof Cancelled)) connection.output.drop(NOT_RESUMED)
    }
  }

  /** Only few parts are read at a time, since each is in memory until it is sent. */
  async #sendPart(resume: Resume): Promise<void> {
    const { entry, rewinds } = resume
    const { client, closed } = entry.connection
    const release = await this.#resumeSlots.acquire(client, { reserved: RPC_LIMITS.logBytes }, closed)
    try {
      const part = await resume.read(this.#options.view, this.#head)
      if (part === undefined) await setImmediate()
      for (const { payload, after } of part?.items ?? []) {
        if (entry.isRemoved || resume.rewinds !== rewinds) return
        resume.next = after
        await this.#sendMissed(entry, payload)
      }
      if (part !== undefined && resume.rewinds === rewinds) resume.next = part.after
    } finally {
      release()
    }
  }

  /** Waits for the reader and for the turn of its client. */
  async #sendMissed(entry: SubscriptionEntry, payload: NotificationPayload): Promise<void> {
    const { client, output } = entry.connection
    deliverNotification(entry, payload)
    for (let wait = output.drained(); wait !== undefined; wait = output.drained()) await wait
    const pause = this.#pauseIfDue(client)
    if (pause !== undefined) await pause
  }

  #onCommitted(event: CommittedEvent): void {
    this.#head = event.block.header.number
    if (this.#plain.newHeads.size > 0) {
      const payload = encodeOnce(() => headerJson(event.block))
      notifyInTurns(this.#plain.newHeads, entry => deliverNotification(entry, payload))
    }
    if (event.receipts.some(({ logs }) => logs.length > 0))
      this.#deliverLogs(logEntries(loggedBlock(event.block, event.receipts), EVERY_LOG))
    if (this.#plain.newProofHeaders.size > 0) void this.#deliverProofs(event.block.proofHeaders)
  }

  /** Sends work that differs from what was sent last. */
  #sendWork(entry: SubscriptionEntry, coinbase: Hex | undefined): void {
    const work = this.#options.mining?.work(coinbase)
    if (work === undefined || work[0] === this.#work.get(entry)) return
    this.#work.set(entry, work[0])
    deliverNotification(
      entry,
      encodeOnce(() => JSON.stringify(work)),
    )
  }

  /** Notifies of headers that a block made final, in order. */
  async #deliverProofs(encoded: readonly Uint8Array[]): Promise<void> {
    for (const bytes of encoded) {
      const header = await this.#options.proofChain?.header(proofHeaderId(decodeProofHeader(bytes)))
      if (header === undefined) continue
      const payload = encodeOnce(() => JSON.stringify(encodeProofHeaderInfo(header)))
      notifyInTurns(this.#plain.newProofHeaders, entry => deliverNotification(entry, payload))
    }
  }

  #deliverLogs(logs: Iterable<LogEntry>, isRemoved = false): void {
    if (this.#logs.size > 0) this.#logQueue.add(this.#logDelivery(logs, isRemoved, ++this.#loggedBlocks))
  }

  *#logDelivery(logs: Iterable<LogEntry>, isRemoved: boolean, ordinal: number): SlicedWork<void> {
    const compared = yield* comparedLogs(logs, isRemoved)
    const groups = new Map<SubscriberConnection, [LogCriteria, readonly SubscriptionEntry[]][]>()
    for (const { criteria, entries } of this.#logs.values()) {
      const own = [...entries].filter(({ earlierLogs }) => earlierLogs < ordinal)
      for (const [connection, subscribed] of byConnection(own)) {
        getOrMake(groups, connection, () => []).push([criteria, subscribed])
      }
      yield
    }
    for (const [{ queue }, own] of groups) queue.add(logDeliveries(own, compared))
  }

  /** Logs of too many blocks wait only when the thread has no time: then all that wait for logs are dropped. */
  #createLogQueue(): SlicedQueue {
    return new SlicedQueue({
      pauseIfDue: () => this.#pauseIfDue(NODE),
      limit: RPC_LIMITS.waitingEvents,
      onEnd: () => {
        this.#logQueue = this.#createLogQueue()
        const waiting = [...this.#logs.values()].flatMap(({ entries }) => [...entries])
        for (const { connection } of waiting) connection.queue.giveUp()
      },
    })
  }

  #onPending(transaction: Transaction): void {
    if (this.#plain.newPendingTransactions.size === 0) return
    const hash = encodeOnce(() => `"${transaction.hash}"`)
    const full = encodeOnce(() => transactionJson(transaction, null))
    notifyInTurns(this.#plain.newPendingTransactions, entry =>
      deliverNotification(
        entry,
        entry.subscription.kind === 'newPendingTransactions' && entry.subscription.full ? full : hash,
      ),
    )
  }
}
