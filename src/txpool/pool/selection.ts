import type { Hex } from '@tandem/base/bytes.ts'
import { nextNonce } from '@tandem/base/uint64.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'
import { type PoolEntry, proposerTip } from './entry.ts'
import { type HeapSlot, IndexedHeap } from './indexed-heap.ts'
import type { SenderQueue } from './sender-queue.ts'

/** Next transaction of one sender. */
interface Head extends HeapSlot {
  readonly entries: readonly PoolEntry[]
  readonly end: number
  /** Position of `entry` in `entries`. */
  at: number
  entry: PoolEntry
  tip: bigint
  /** Tip as a double: orders most pairs without bigints. Rounding is monotonic, so only equal values need the exact comparison. */
  roughTip: number
}

/**
 * Executable transactions in block order: by effective tip, then arrival, with a sender's nonces in sequence. A heap over the
 * senders' heads, so that taking the first k of n costs O(senders + k log senders). It reads the lists as they were at its start.
 */
export class Selection {
  readonly #baseFee: bigint
  readonly #heads = new IndexedHeap<Head>(before, head => head)
  readonly #skipped = new Set<Hex>()
  /** Hash of the oldest transaction that the last build passed over. */
  readonly longestWaiting: Hex | undefined
  #current: Hex | undefined
  #skipCurrent = false

  /** `lastBuild`: number of the build before this one. */
  constructor(senders: Iterable<SenderQueue>, baseFee: bigint, lastBuild?: number) {
    this.#baseFee = baseFee
    const heads: Head[] = []
    let oldest: PoolEntry | undefined
    for (const sender of senders) {
      const entry = sender.entries[0]
      if (sender.executable === 0 || entry === undefined || entry.transaction.maxFeePerGas < baseFee) continue
      const tip = proposerTip(entry.transaction, baseFee)
      if (entry.passedOverIn === lastBuild && (oldest === undefined || entry.arrival < oldest.arrival)) oldest = entry
      const { entries, executable: end } = sender
      heads.push({ index: -1, entries, end, at: 0, entry, tip, roughTip: Number(tip) })
    }
    this.longestWaiting = oldest?.transaction.hash
    this.#heads.fill(heads)
  }

  next(): Transaction | undefined {
    if (this.#current !== undefined) this.#advance()
    for (let head = this.#heads.peek(); head !== undefined; head = this.#heads.peek()) {
      const { transaction } = head.entry
      this.#current = transaction.from
      if (!this.#skipped.has(transaction.from)) return transaction
      this.#skipCurrent = true
      this.#advance()
    }
    this.#current = undefined
    return undefined
  }

  /** Skips all further transactions of this sender. */
  skipSender(transaction: Transaction): void {
    if (transaction.from === this.#current) this.#skipCurrent = true
    else this.#skipped.add(transaction.from)
  }

  /** Replaces the returned transaction by the sender's next one. */
  #advance(): void {
    const head = this.#heads.peek() as Head
    const nonce = nextNonce(head.entry.transaction.nonce)
    const entry = this.#skipCurrent || ++head.at >= head.end ? undefined : head.entries[head.at]
    this.#skipCurrent = false
    // The nonce is compared because a sender's last transactions may be evicted, and others appended, during a selection.
    if (entry?.transaction.nonce === nonce && entry.transaction.maxFeePerGas >= this.#baseFee) {
      head.entry = entry
      head.tip = proposerTip(entry.transaction, this.#baseFee)
      head.roughTip = Number(head.tip)
      this.#heads.update(head)
    } else this.#heads.remove(head)
  }
}

const before = (a: Head, b: Head): boolean => {
  if (a.roughTip !== b.roughTip) return a.roughTip > b.roughTip
  if (a.tip !== b.tip) return a.tip > b.tip
  return a.entry.arrival < b.entry.arrival
}
