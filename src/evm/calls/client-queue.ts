import { FairQueue } from '../../util/async/fair-queue.ts'

/**
 * What waits, by whom it waits for: clients take turns, so that one with many requests waits for itself. A full queue makes room for a client with less by letting go of the newest of the one with most.
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

  /** What has to go for it: nothing, the newest of another client, or the item itself. */
  push(client: string, item: T): T | undefined {
    const displaced = this.#size < this.#limit ? undefined : this.#displace(this.#fairQueue.lengthOf(client))
    if (displaced === undefined && this.#size >= this.#limit) return item
    this.#fairQueue.push(client, item)
    this.#size++
    return displaced
  }

  /** The next, of the first client in turn that may have one. */
  shift(mayHave: (client: string) => boolean): T | undefined {
    const next = this.#fairQueue.shift(mayHave)
    if (next !== undefined) this.#size--
    return next?.item
  }

  /** Takes one item out; false when it does not wait. */
  remove(client: string, item: T): boolean {
    const wasThere = this.#fairQueue.remove(client, item)
    if (wasThere) this.#size--
    return wasThere
  }

  takeAll(): T[] {
    this.#size = 0
    return this.#fairQueue.takeAll()
  }

  /** Of the longest line, if it is longer than one that has `waiting` and gets one more. */
  #displace(waiting: number): T | undefined {
    const { longest } = this.#fairQueue
    if (longest === undefined || this.#fairQueue.lengthOf(longest) <= waiting + 1) return undefined
    this.#size--
    return this.#fairQueue.pop(longest)
  }
}
