/** Queues by owner, served in rotation. The callers enforce limits. */
export class FairQueue<T> {
  /** In the order of rotation; none is empty. */
  readonly #lines = new Map<string, T[]>()

  get isEmpty(): boolean {
    return this.#lines.size === 0
  }

  lengthOf(owner: string): number {
    return this.#lines.get(owner)?.length ?? 0
  }

  /** Owner of the longest queue, the first in rotation among equals. */
  get longest(): string | undefined {
    let longest: string | undefined
    for (const owner of this.#lines.keys())
      if (longest === undefined || this.lengthOf(owner) > this.lengthOf(longest)) longest = owner
    return longest
  }

  push(owner: string, item: T): void {
    const line = this.#lines.get(owner)
    if (line === undefined) this.#lines.set(owner, [item])
    else line.push(item)
  }

  /** Takes the oldest item of the first owner that `mayHave` allows to have it; that owner moves to the end of the rotation. */
  shift(mayHave: (owner: string, item: T) => boolean): { readonly owner: string; readonly item: T } | undefined {
    for (const [owner, line] of this.#lines) {
      if (!mayHave(owner, line[0] as T)) continue
      this.#lines.delete(owner)
      const item = line.shift() as T
      if (line.length > 0) this.#lines.set(owner, line)
      return { owner, item }
    }
    return undefined
  }

  /** Takes the newest item of an owner. */
  pop(owner: string): T | undefined {
    const line = this.#lines.get(owner)
    const item = line?.pop()
    if (line?.length === 0) this.#lines.delete(owner)
    return item
  }

  /** Removes one item; returns false when it is not queued. */
  remove(owner: string, item: T): boolean {
    const line = this.#lines.get(owner)
    const at = line?.indexOf(item) ?? -1
    if (at === -1) return false
    line?.splice(at, 1)
    if (line?.length === 0) this.#lines.delete(owner)
    return true
  }

  /** Takes all items of an owner. */
  take(owner: string): readonly T[] {
    const line = this.#lines.get(owner) ?? []
    this.#lines.delete(owner)
    return line
  }

  takeAll(): T[] {
    const all = [...this.#lines.values()].flat()
    this.#lines.clear()
    return all
  }
}
