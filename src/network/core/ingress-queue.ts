import { FairQueue } from '@tandem/base/async/fair-queue.ts'

interface Sized<T> {
  readonly item: T
  readonly bytes: number
}

/**
 * Queue of items that peers sent faster than they are handled: each peer has a queue bounded in bytes, and the queues
 * are served in rotation.
 */
export class IngressQueue<T> {
  readonly #bytesPerPeer: number
  readonly #fairQueue = new FairQueue<Sized<T>>()
  /** Queued bytes by peer. */
  readonly #bytes = new Map<string, number>()

  constructor(bytesPerPeer: number) {
    this.#bytesPerPeer = bytesPerPeer
  }

  get isEmpty(): boolean {
    return this.#fairQueue.isEmpty
  }

  /** Returns false, without taking the item, when the peer's queue is full. */
  push(peer: string, item: T, bytes: number): boolean {
    const held = (this.#bytes.get(peer) ?? 0) + bytes
    if (held > this.#bytesPerPeer) return false
    this.#fairQueue.push(peer, { item, bytes })
    this.#bytes.set(peer, held)
    return true
  }

  /** Returns the next item of the first peer in rotation that `mayGoOn` allows. */
  shift(mayGoOn: (peer: string) => boolean): T | undefined {
    const next = this.#fairQueue.shift(mayGoOn)
    if (next === undefined) return undefined
    const { owner, item } = next
    if (this.#fairQueue.lengthOf(owner) === 0) this.#bytes.delete(owner)
    else this.#bytes.set(owner, (this.#bytes.get(owner) ?? 0) - item.bytes)
    return item.item
  }

  /** Removes a peer that left and returns its items. */
  forget(peer: string): readonly T[] {
    this.#bytes.delete(peer)
    return this.#fairQueue.take(peer).map(({ item }) => item)
  }
}
