import type { Hex } from '@tandem/base/bytes.ts'

/** Keeps the last few. */
class Ring<T> {
  readonly items: T[] = []
  readonly #limit: number
  #next = 0

  constructor(limit: number, items: readonly T[] = []) {
    this.#limit = limit
    for (const item of items) this.add(item)
  }

  add(item: T): void {
    this.items[this.#next++ % this.#limit] = item
  }
}

export interface Known {
  readonly addresses: readonly Hex[]
  readonly hashes: readonly Hex[]
  /** Calls that contracts understand. */
  readonly callData: readonly Hex[]
}

const HASH = /^0x[0-9a-f]{64}$/
const MAKES_FILTER = /_new(Block|PendingTransaction)?Filter$/

/** Values that exist on the chain, for generators to draw from: those known at the start, and those found in answers since. */
export class LiveValues {
  readonly addresses: readonly Hex[]
  readonly callData: readonly Hex[]
  readonly hashes: Ring<Hex>
  /** Sent, and in a block or soon; in `hashes` too. */
  readonly transactions = new Ring<Hex>(64)
  readonly filters = new Ring<Hex>(32)
  /** Open on this connection, oldest first. */
  readonly subscriptions: Hex[] = []
  head = 1

  constructor({ addresses, hashes, callData }: Known) {
    this.addresses = addresses
    this.callData = callData
    this.hashes = new Ring(256, hashes)
  }

  learn(method: string, result: unknown): void {
    if (typeof result === 'string') this.#learnText(method, result as Hex)
    else if (typeof result === 'object' && result !== null) {
      const { hash, transactionHash, blockHash } = result as Record<string, unknown>
      for (const value of [hash, transactionHash, blockHash])
        if (typeof value === 'string' && HASH.test(value)) this.hashes.add(value as Hex)
    }
  }

  #learnText(method: string, text: Hex): void {
    if (MAKES_FILTER.test(method)) this.filters.add(text)
    else if (method.endsWith('_subscribe')) this.subscriptions.push(text)
    else if (/_send(Raw)?Transaction$/.test(method)) {
      this.hashes.add(text)
      this.transactions.add(text)
    } else if (/_(get)?[bB]lockNumber$/.test(method)) this.head = Math.max(this.head, Number(text))
  }

  forget(subscription: unknown): void {
    const at = this.subscriptions.indexOf(subscription as Hex)
    if (at !== -1) this.subscriptions.splice(at, 1)
  }
}
