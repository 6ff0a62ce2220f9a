import type { Hex } from '@tandem/base/bytes.ts'
import { nextNonce } from '@tandem/base/uint64.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'
import { type PoolEntry, proposerTip } from './entry.ts'
import type { SenderQueue } from './sender-queue.ts'

/** Next transaction of one sender. */
interface Head {
  readonly entries: readonly PoolEntry[]
  readonly end: number
  index: number
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
  readonly #heap: Head[] = []
  readonly #skipped = new Set<Hex>()
  /** Hash of the oldest transaction that the last build passed over. */
  readonly longestWaiting: Hex | undefined
  #current: Hex | undefined
  #skipCurrent = false

  /** `lastBuild`: number of the build before this one. */
  constructor(senders: Iterable<SenderQueue>, baseFee: bigint, lastBuild?: number) {
    this.#baseFee = baseFee
    let oldest: PoolEntry | undefined
    for (const sender of senders) {
      const entry = sender.entries[0]
      if (sender.executable === 0 || entry === undefined || entry.transaction.maxFeePerGas < baseFee) continue
      const tip = proposerTip(entry.transaction, baseFee)
      if (entry.passedOverIn === lastBuild && (oldest === undefined || entry.arrival < oldest.arrival)) oldest = entry
      this.#heap.push({ entries: sender.entries, end: sender.executable, index: 0, entry, tip, roughTip: Number(tip) })
    }
    this.longestWaiting = oldest?.transaction.hash
    for (let at = (this.#heap.length >> 1) - 1; at >= 0; at--) this.#down(at)
  }

  next(): Transaction | undefined {
    if (this.#current !== undefined) this.#advance()
    while (this.#heap.length > 0) {
      const { transaction } = (this.#heap[0] as Head).entry
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
    const head = this.#heap[0] as Head
    const nonce = nextNonce(head.entry.transaction.nonce)
    const entry = this.#skipCurrent || ++head.index >= head.end ? undefined : head.entries[head.index]
    this.#skipCurrent = false
    // The nonce is compared because a sender's last transactions may be evicted, and others appended, during a selection.
    if (entry?.transaction.nonce === nonce && entry.transaction.maxFeePerGas >= this.#baseFee) {
      head.entry = entry
      head.tip = proposerTip(entry.transaction, this.#baseFee)
      head.roughTip = Number(head.tip)
      this.#down(0)
      return
    }
    const last = this.#heap.pop() as Head
    if (this.#heap.length === 0) return
    this.#heap[0] = last
    this.#down(0)
  }

  #down(at: number): void {
    const heap = this.#heap
    const item = heap[at] as Head
    let index = at
    for (;;) {
      let childIndex = 2 * index + 1
      if (childIndex >= heap.length) break
      const right = childIndex + 1
      if (right < heap.length && before(heap[right] as Head, heap[childIndex] as Head)) childIndex = right
      const child = heap[childIndex] as Head
      if (!before(child, item)) break
      heap[index] = child
      index = childIndex
    }
    heap[index] = item
  }
}

const before = (a: Head, b: Head): boolean => {
  if (a.roughTip !== b.roughTip) return a.roughTip > b.roughTip
  if (a.tip !== b.tip) return a.tip > b.tip
  return a.entry.arrival < b.entry.arrival
}
