import type { Hex } from '@tandem/base/bytes.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import { type DropReason, noDrops, type PoolEntry } from './entry.ts'
import type { PoolError } from './errors.ts'
import { IndexedHeap } from './indexed-heap.ts'
import { isHeavy } from './overruns.ts'
import type { SenderQueue } from './sender-queue.ts'
import type { PoolLimits } from './types.ts'

/* Order of eviction when the pool is full: the larger of two senders loses a transaction. */

/**
 * Within the guaranteed slots all senders are equal. The price of what may never pay says nothing, nor does that of what waits behind it:
 * these are evicted first, and what waits for a lower base fee, then the lower tip, behind which a higher one waits.
 */
const largerReady =
  (guaranteed: number) =>
  (a: SenderQueue, b: SenderQueue): boolean => {
    const sizeA = a.readySlots > guaranteed ? a.readySlots : guaranteed
    const sizeB = b.readySlots > guaranteed ? b.readySlots : guaranteed
    if (sizeA !== sizeB) return sizeA > sizeB
    const isDoubtful = mayWaitForEver(a)
    if (isDoubtful !== mayWaitForEver(b)) return isDoubtful
    if (a.readyTip !== b.readyTip) return a.readyTip < b.readyTip
    return (a.entries[a.ready - 1] as PoolEntry).arrival > (b.entries[b.ready - 1] as PoolEntry).arrival
  }

/** Within as many slots senders are equal. A queued one may never pay, so idle senders' go first, the oldest of them. */
const largerQueued =
  (guaranteed: number) =>
  (a: SenderQueue, b: SenderQueue): boolean => {
    const sizeA = a.queuedSlots > guaranteed ? a.queuedSlots : guaranteed
    const sizeB = b.queuedSlots > guaranteed ? b.queuedSlots : guaranteed
    if (sizeA !== sizeB) return sizeA > sizeB
    const isIdle = mayWaitForEver(a) || a.executable === 0
    if (isIdle !== (mayWaitForEver(b) || b.executable === 0)) return isIdle
    return (a.entries.at(-1) as PoolEntry).arrival < (b.entries.at(-1) as PoolEntry).arrival
  }

const mayWaitForEver = ({ readyDoubts, executable, ready }: SenderQueue): boolean =>
  readyDoubts > 0 || executable < ready

/** Pooled transactions that may make an account delegate. */
interface Authority {
  count: number
  /** Highest nonce of an authorization in them. */
  nonce: bigint
}

/**
 * Pooled transactions by hash and by sender, with the slots in use and the evictions that keep them within the limits. Every change of a
 * sender's queue goes through this class, so that the sums and the order of eviction follow.
 */
export class PooledTransactions {
  readonly drops = noDrops()
  readonly #limits: PoolLimits
  readonly #byHash = new Map<Hex, PoolEntry>()
  readonly #senders = new Map<Hex, SenderQueue>()
  readonly #authorities = new Map<Hex, Authority>()
  readonly #readyVictims: IndexedHeap<SenderQueue>
  readonly #queuedVictims: IndexedHeap<SenderQueue>
  #baseFee: bigint
  /** The eviction heaps exist only while the pool is full; a block, which changes many senders, discards them. */
  #ordered = false
  #readySlots = 0
  #queuedSlots = 0
  #executable = 0

  constructor(limits: PoolLimits, baseFee: bigint) {
    this.#limits = limits
    this.#baseFee = baseFee
    this.#readyVictims = new IndexedHeap(largerReady(limits.accountPending), sender => sender.readyHeap)
    this.#queuedVictims = new IndexedHeap(largerQueued(limits.accountPending), sender => sender.queuedHeap)
  }

  get size(): number {
    return this.#byHash.size
  }

  get executable(): number {
    return this.#executable
  }

  get readySlots(): number {
    return this.#readySlots
  }

  get queuedSlots(): number {
    return this.#queuedSlots
  }

  get senderCount(): number {
    return this.#senders.size
  }

  get(hash: Hex): PoolEntry | undefined {
    return this.#byHash.get(hash)
  }

  sender(address: Hex): SenderQueue | undefined {
    return this.#senders.get(address)
  }

  /** Returns true for an account of this nonce that a pooled transaction may make delegate. */
  isAuthority(address: Hex, nonce: Nonce): boolean {
    const authority = this.#authorities.get(address)
    return authority !== undefined && authority.nonce >= BigInt(nonce)
  }

  /** Returns the queue of a pooled entry's sender. */
  senderOf(entry: PoolEntry): SenderQueue {
    return this.#senders.get(entry.transaction.from) as SenderQueue
  }

  senders(): MapIterator<SenderQueue> {
    return this.#senders.values()
  }

  /** Sets the base fee of the next block, in wei; returns true when it differs from the last one. */
  startBlock(baseFee: bigint): boolean {
    this.#ordered = false
    if (baseFee === this.#baseFee) return false
    this.#baseFee = baseFee
    this.#executable = 0
    for (const sender of this.#senders.values()) {
      sender.executable = 0
      sender.reprice(baseFee)
      this.#executable += sender.executable
    }
    return true
  }

  /** Adds an entry in place of its sender's entry of the same nonce; returns the error when the pool has no room and evicted it. */
  insert(sender: SenderQueue, entry: PoolEntry): PoolError | undefined {
    this.#senders.set(sender.address, sender)
    this.#byHash.set(entry.transaction.hash, entry)
    for (const [address, nonce] of entry.authorities) {
      const { count, nonce: known } = this.#authorities.get(address) ?? { count: 0, nonce }
      this.#authorities.set(address, { count: count + 1, nonce: nonce > known ? nonce : known })
    }
    const replaced = this.#change(sender, () => sender.insert(entry, this.#baseFee))
    if (replaced !== undefined) this.#forget(replaced, 'replaced')
    const error = this.#trimAccount(sender, entry) ?? this.#trimPool(entry)
    // Refused, not dropped.
    if (error !== undefined) this.drops.evicted--
    return error
  }

  /** Drops the sender's entries for which a reason is returned, and recomputes its counts. */
  filter(sender: SenderQueue, reasonFor: (entry: PoolEntry, index: number) => DropReason | undefined): void {
    this.#change(sender, () => {
      const kept = sender.entries.filter((entry, index) => {
        const reason = reasonFor(entry, index)
        if (reason !== undefined) this.#forget(entry, reason)
        return reason === undefined
      })
      if (kept.length !== sender.entries.length) sender.entries = kept
      sender.recount(this.#baseFee)
    })
  }

  /** Records that the heavy entries of a sender may never pay. */
  doubt(sender: SenderQueue): void {
    for (const entry of sender.entries) if (isHeavy(entry.transaction)) entry.mayNeverPay = true
    this.filter(sender, () => undefined)
  }

  /** Returns the error for a replacement too large for the pool, so its sender keeps the first; undefined when it has room. */
  replacementError(entry: PoolEntry, replaced: PoolEntry, sender: SenderQueue): PoolError | undefined {
    const more = entry.slots - replaced.slots
    const { pending, queued, accountQueued } = this.#limits
    const exceeds = (used: number, limit: number): boolean => more > 0 && used + more > limit
    if (replaced.transaction.nonce < sender.nonce + sender.ready)
      return exceeds(this.#readySlots, pending) ? poolFull('pending', pending) : undefined
    if (exceeds(sender.queuedSlots, accountQueued)) return poolFull('account', accountQueued)
    return exceeds(this.#queuedSlots, queued) ? poolFull('queued', queued) : undefined
  }

  /** Drops transactions until the limits hold, those of the account for the given senders. */
  trim(senders: Iterable<SenderQueue>): void {
    for (const sender of senders) this.#trimAccount(sender)
    this.#trimPool()
  }

  /** Drops a sender's excess transactions behind a gap; returns the error if the newcomer was among them. */
  #trimAccount(sender: SenderQueue, newcomer?: PoolEntry): PoolError | undefined {
    const { accountQueued } = this.#limits
    while (sender.queuedSlots > accountQueued) {
      if (this.#evict(sender, 'queued') === newcomer) return poolFull('account', accountQueued)
    }
    return undefined
  }

  /** Drops the last transaction of the largest sender until the pool's limits hold; returns the error if the newcomer was dropped. */
  #trimPool(newcomer?: PoolEntry): PoolError | undefined {
    const { pending, queued } = this.#limits
    let error: PoolError | undefined
    if (!this.#ordered && (this.#readySlots > pending || this.#queuedSlots > queued)) this.#order()
    while (this.#readySlots > pending) {
      const evicted = this.#evict(this.#readyVictims.peek() as SenderQueue, 'ready')
      if (evicted === newcomer) error = poolFull('pending', pending)
    }
    while (this.#queuedSlots > queued) {
      const evicted = this.#evict(this.#queuedVictims.peek() as SenderQueue, 'queued')
      if (evicted === newcomer) error = poolFull('queued', queued)
    }
    return error
  }

  #order(): void {
    const senders = [...this.#senders.values()]
    for (const sender of senders) sender.rate(this.#baseFee)
    this.#readyVictims.fill(senders.filter(sender => sender.readySlots > 0))
    this.#queuedVictims.fill(senders.filter(sender => sender.queuedSlots > 0))
    this.#ordered = true
  }

  #evict(sender: SenderQueue, kind: 'ready' | 'queued'): PoolEntry {
    const entry = this.#change(sender, () => (kind === 'ready' ? sender.dropReadyTail() : sender.dropQueuedTail()))
    this.#forget(entry, 'evicted')
    return entry
  }

  #forget(entry: PoolEntry, reason: DropReason): void {
    this.#byHash.delete(entry.transaction.hash)
    for (const address of entry.authorities.keys()) {
      const authority = this.#authorities.get(address)
      if (authority !== undefined && --authority.count === 0) this.#authorities.delete(address)
    }
    this.drops[reason]++
  }

  /** Wraps every change of a sender's queue, so that sums and eviction heaps follow. */
  #change<T>(sender: SenderQueue, change: () => T): T {
    this.#readySlots -= sender.readySlots
    this.#queuedSlots -= sender.queuedSlots
    this.#executable -= sender.executable
    const result = change()
    this.#readySlots += sender.readySlots
    this.#queuedSlots += sender.queuedSlots
    this.#executable += sender.executable
    if (this.#ordered) {
      sender.rate(this.#baseFee)
      if (sender.readySlots > 0) this.#readyVictims.update(sender)
      else this.#readyVictims.remove(sender)
      if (sender.queuedSlots > 0) this.#queuedVictims.update(sender)
      else this.#queuedVictims.remove(sender)
    }
    if (sender.entries.length === 0) this.#senders.delete(sender.address)
    return result
  }
}

const poolFull = (scope: 'pending' | 'queued' | 'account', limit: number): PoolError => ({
  code: 'POOL_FULL',
  scope,
  limit,
})
