import { FairQueue } from '../../util/async/fair-queue.ts'

interface Sized<T> {
  readonly item: T
  readonly bytes: number
}

/** What peers sent faster than it is looked at: each has a line of so many bytes, and the lines take turns. */
export class IngressQueue<T> {
  readonly #bytesPerPeer: number
  readonly #fairQueue = new FairQueue<Sized<T>>()
  /** Of those that have a line. */
  readonly #bytes = new Map<string, number>()

  constructor(bytesPerPeer: number) {
    this.#bytesPerPeer = bytesPerPeer
  }

  get isEmpty(): boolean {
    return this.#fairQueue.isEmpty
  }

  /** false: this peer's line is full, and the item was not taken. */
  push(peer: string, item: T, bytes: number): boolean {
    const held = (this.#bytes.get(peer) ?? 0) + bytes
    if (held > this.#bytesPerPeer) return false
    this.#fairQueue.push(peer, { item, bytes })
    this.#bytes.set(peer, held)
    return true
  }

  /** The next of the first peer in turn that may go on. */
  shift(mayGoOn: (peer: string) => boolean): T | undefined {
    const next = this.#fairQueue.shift(mayGoOn)
    if (next === undefined) return undefined
    const { owner, item } = next
    if (this.#fairQueue.lengthOf(owner) === 0) this.#bytes.delete(owner)
    else this.#bytes.set(owner, (this.#bytes.get(owner) ?? 0) - item.bytes)
    return item.item
  }

  /** A peer left: what it sent is nobody's any more. */
  forget(peer: string): readonly T[] {
    this.#bytes.delete(peer)
    return this.#fairQueue.take(peer).map(({ item }) => item)
  }
}
