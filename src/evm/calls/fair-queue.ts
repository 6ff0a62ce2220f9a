/**
 * What waits, by whom it waits for: clients take turns, so that one with many requests waits for itself. A full queue makes room for a client with less by letting go of the newest of the one with most.
 */
export class FairQueue<T> {
  readonly #limit: number
  /** Clients in the order of their turns; none is empty. */
  readonly #lines = new Map<string, T[]>()
  #size = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#size
  }

  /** What has to go for it: nothing, the newest of another client, or the item itself. */
  push(client: string, item: T): T | undefined {
    const line = this.#lines.get(client)
    const displaced = this.#size < this.#limit ? undefined : this.#displace(line?.length ?? 0)
    if (displaced === undefined && this.#size >= this.#limit) return item
    if (line === undefined) this.#lines.set(client, [item])
    else line.push(item)
    this.#size++
    return displaced
  }

  /** The next, of the first client in turn that may have one. */
  shift(mayHave: (client: string) => boolean): T | undefined {
    for (const [client, line] of this.#lines) {
      if (!mayHave(client)) continue
      this.#lines.delete(client)
      const item = line.shift()
      if (line.length > 0) this.#lines.set(client, line)
      this.#size--
      return item
    }
    return undefined
  }

  takeAll(): T[] {
    const all = [...this.#lines.values()].flat()
    this.#lines.clear()
    this.#size = 0
    return all
  }

  /** Of the longest line, if it is longer than one that has `waiting` and gets one more. */
  #displace(waiting: number): T | undefined {
    let longest: T[] | undefined
    for (const line of this.#lines.values()) if (line.length > (longest?.length ?? 0)) longest = line
    if (longest === undefined || longest.length <= waiting + 1) return undefined
    this.#size--
    return longest.pop()
  }
}
