import { FairQueue } from '@tandem/base/async/fair-queue.ts'

/**
 * Queues by client, served in rotation, so that a client with many requests waits only for itself. When full, the
 * newest request of the client with most is dropped in favour of a client with fewer.
 */
export class ClientQueue<T> {
  readonly #limit: number
  readonly #fairQueue = new FairQueue<T>()
  #size = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#size
  }

  /** Returns the displaced item: none, the newest of another client, or the item itself. */
  push(client: string, item: T): T | undefined {
    const displaced = this.#size < this.#limit ? undefined : this.#displace(this.#fairQueue.lengthOf(client))
    if (displaced === undefined && this.#size >= this.#limit) return item
    this.#fairQueue.push(client, item)
    this.#size++
    return displaced
  }

  /** Returns the next item of the first client in rotation that `mayHave` allows. */
  shift(mayHave: (client: string) => boolean): T | undefined {
    const next = this.#fairQueue.shift(mayHave)
    if (next !== undefined) this.#size--
    return next?.item
  }

  /** Removes one item; returns false when it is not queued. */
  remove(client: string, item: T): boolean {
    const wasThere = this.#fairQueue.remove(client, item)
    if (wasThere) this.#size--
    return wasThere
  }

  takeAll(): T[] {
    this.#size = 0
    return this.#fairQueue.takeAll()
  }

  /** Drops an item of the longest queue, if it is longer than one with `waiting` plus one items. */
  #displace(waiting: number): T | undefined {
    const { longest } = this.#fairQueue
    if (longest === undefined || this.#fairQueue.lengthOf(longest) <= waiting + 1) return undefined
    this.#size--
    return this.#fairQueue.pop(longest)
  }
}
