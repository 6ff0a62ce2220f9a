import type { Hex } from '@tandem/base/bytes.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import { POOL_LIMITS } from '../../config/limits/pool.ts'
import { type PoolEntry, proposerTip } from './entry.ts'
import type { HeapSlot } from './indexed-heap.ts'

/**
 * One sender's transactions in nonce order. The first `ready` of them follow the account's nonce without a gap and the balance
 * pays for all of them; the first `executable` of those also reach the base fee. Transactions after `ready` are queued.
 *
 * Transactions that a block removes from the front leave a new array behind, so that a selection under way keeps reading the old
 * one; all other changes happen in place, at or behind the end of the range a selection may read, or replace a transaction by one
 * of the same nonce.
 */
export class SenderQueue {
  readonly address: Hex
  entries: PoolEntry[] = []
  ready = 0
  executable = 0
  /** Number of entries at the front reported as executable. */
  announced = 0
  readySlots = 0
  queuedSlots = 0
  /** Number of ready ones that may never pay. */
  readyDoubts = 0
  readyCostWei = 0n
  /** Nonce and balance as last read; `ready` was computed from them. */
  nonce: number
  balanceWei: bigint
  /** Number of the sweep before the last block with a transaction of it. */
  includedSweep = 0
  /** Lowest effective tip of the last ready ones: none is included before those ahead of it. Up to date where `rate` was called. */
  readyTip = 0n
  readonly readyHeap: HeapSlot = { index: -1 }
  readonly queuedHeap: HeapSlot = { index: -1 }

  constructor(address: Hex, nonce: number, balanceWei: bigint) {
    this.address = address
    this.nonce = nonce
    this.balanceWei = balanceWei
  }

  /** Returns the index of the first entry whose nonce is not below `nonce`. */
  indexOf(nonce: Nonce): number {
    const { entries } = this
    const last = entries.at(-1)
    if (last === undefined || last.transaction.nonce < nonce) return entries.length
    let low = 0
    let high = entries.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if ((entries[middle] as PoolEntry).transaction.nonce < nonce) low = middle + 1
      else high = middle
    }
    return low
  }

  find(nonce: Nonce): PoolEntry | undefined {
    const entry = this.entries[this.indexOf(nonce)]
    return entry?.transaction.nonce === nonce ? entry : undefined
  }

  /** Inserts an entry and returns the one it replaced. `ready` is extended as far as possible. */
  insert(entry: PoolEntry, baseFee: bigint): PoolEntry | undefined {
    const at = this.indexOf(entry.transaction.nonce)
    const replaced = this.entries[at]
    if (replaced?.transaction.nonce === entry.transaction.nonce) {
      this.entries[at] = entry
      if (at < this.ready) this.#replaceReady(at, entry, replaced, baseFee)
      else {
        this.queuedSlots += entry.slots - replaced.slots
        this.extend(baseFee)
      }
      return replaced
    }
    if (at === this.entries.length) this.entries.push(entry)
    else this.entries.splice(at, 0, entry)
    this.queuedSlots += entry.slots
    this.extend(baseFee)
    return undefined
  }

  /** Updates the counts without a walk over the others: a sender may have thousands, and a replacement costs it nothing. */
  #replaceReady(at: number, entry: PoolEntry, replaced: PoolEntry, baseFee: bigint): void {
    this.readySlots += entry.slots - replaced.slots
    this.readyDoubts += doubts(entry) - doubts(replaced)
    this.readyCostWei += entry.costWei - replaced.costWei
    if (this.readyCostWei > this.balanceWei) {
      this.recount(baseFee)
      return
    }
    if (at < this.executable && !isExecutable(entry, baseFee)) this.executable = at
    if (this.announced > this.executable) this.announced = this.executable
    // It may cost less than before.
    this.extend(baseFee)
  }

  /** Recomputes all counts from `entries`, `nonce` and `balanceWei`. */
  recount(baseFee: bigint): void {
    this.ready = 0
    this.executable = 0
    this.announced = 0
    this.readySlots = 0
    this.readyDoubts = 0
    this.readyCostWei = 0n
    this.queuedSlots = 0
    for (const entry of this.entries) this.queuedSlots += entry.slots
    this.extend(baseFee)
  }

  /** Moves queued entries to ready while they follow without a gap and can be paid. */
  extend(baseFee: bigint): void {
    const { entries } = this
    for (let entry = entries[this.ready]; entry !== undefined; entry = entries[this.ready]) {
      if (entry.transaction.nonce !== this.nonce + this.ready) break
      if (this.readyCostWei + entry.costWei > this.balanceWei) break
      this.readyCostWei += entry.costWei
      this.readySlots += entry.slots
      this.readyDoubts += doubts(entry)
      this.queuedSlots -= entry.slots
      this.ready++
    }
    this.reprice(baseFee)
  }

  /** Extends `executable`; it shrinks only when the caller resets it to 0 first. */
  reprice(baseFee: bigint): void {
    const { entries, ready } = this
    while (this.executable < ready && isExecutable(entries[this.executable] as PoolEntry, baseFee)) this.executable++
  }

  /** Computes what eviction compares; of senders with more than the guaranteed slots it compares the sizes. */
  rate(baseFee: bigint): void {
    const { entries, ready } = this
    for (let at = ready - 1; at >= Math.max(0, ready - POOL_LIMITS.accountPending); at--) {
      const tip = proposerTip((entries[at] as PoolEntry).transaction, baseFee)
      if (at === ready - 1 || tip < this.readyTip) this.readyTip = tip
    }
  }

  /** Removes the last ready entry; the queued ones behind it stay queued. */
  dropReadyTail(): PoolEntry {
    const entry = this.entries[this.ready - 1] as PoolEntry
    if (this.ready === this.entries.length) this.entries.pop()
    else this.entries.splice(this.ready - 1, 1)
    this.ready--
    this.readySlots -= entry.slots
    this.readyDoubts -= doubts(entry)
    this.readyCostWei -= entry.costWei
    if (this.executable > this.ready) this.executable = this.ready
    if (this.announced > this.ready) this.announced = this.ready
    return entry
  }

  /** Removes the queued entry of the highest nonce. */
  dropQueuedTail(): PoolEntry {
    const entry = this.entries.pop() as PoolEntry
    this.queuedSlots -= entry.slots
    return entry
  }
}

const doubts = ({ mayNeverPay }: PoolEntry): number => (mayNeverPay ? 1 : 0)

const isExecutable = ({ transaction }: PoolEntry, baseFee: bigint): boolean => transaction.maxFeePerGas >= baseFee
