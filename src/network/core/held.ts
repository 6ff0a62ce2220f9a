interface Line<T> {
  readonly items: { readonly item: T; readonly bytes: number }[]
  bytes: number
}

/** What peers sent faster than it is looked at: each has a line of so many bytes, and the lines take turns. */
export class Held<T> {
  readonly #bytesPerPeer: number
  /** In the order of their turns; none is empty. */
  readonly #lines = new Map<string, Line<T>>()

  constructor(bytesPerPeer: number) {
    this.#bytesPerPeer = bytesPerPeer
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0
  }

  /** false: this peer's line is full, and the item was not taken. */
  push(peer: string, item: T, bytes: number): boolean {
    const line = this.#lines.get(peer) ?? { items: [], bytes: 0 }
    if (line.bytes + bytes > this.#bytesPerPeer) return false
    line.items.push({ item, bytes })
    line.bytes += bytes
    this.#lines.set(peer, line)
    return true
  }

  /** The next of the first peer in turn that may go on. */
  shift(mayGoOn: (peer: string) => boolean): T | undefined {
    for (const [peer, line] of this.#lines) {
      if (!mayGoOn(peer)) continue
      this.#lines.delete(peer)
      const first = line.items.shift()
      line.bytes -= first?.bytes ?? 0
      if (line.items.length > 0) this.#lines.set(peer, line)
      return first?.item
    }
    return undefined
  }

  /** A peer left: what it sent is nobody's any more. */
  forget(peer: string): readonly T[] {
    const line = this.#lines.get(peer)
    this.#lines.delete(peer)
    return line?.items.map(({ item }) => item) ?? []
  }
}
