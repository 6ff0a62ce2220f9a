import { assert } from '@tandem/base/assert.ts'

interface ChunkPlanOptions {
  /** Range of chunks, `to` exclusive. */
  readonly from: number
  readonly to: number
  /** Chunks already imported, also those outside the range. */
  readonly done: ReadonlySet<number>
  /** Limit of chunks requested or waiting for import, which bounds the memory. */
  readonly parallel: number
}

/** Decides which chunks to request: lowest first, several at once, until each is imported; failed ones before later ones. */
export class ChunkPlan {
  readonly #options: ChunkPlanOptions
  readonly #failed: number[] = []
  readonly #asked = new Set<number>()
  #next: number
  #failures = 0

  constructor(options: ChunkPlanOptions) {
    this.#options = options
    this.#next = options.from
  }

  /** True when nothing is under way and nothing is left. */
  get isDone(): boolean {
    return this.#asked.size === 0 && this.#peek() === undefined
  }

  /** Failures since the last imported chunk. */
  get failures(): number {
    return this.#failures
  }

  /** Returns the chunks to request now; the caller reports each by `imported` or `failed`. */
  ask(): readonly number[] {
    const asks: number[] = []
    while (this.#asked.size < this.#options.parallel) {
      const index = this.#peek()
      if (index === undefined) break
      if (index === this.#failed[0]) this.#failed.shift()
      else this.#next = index + 1
      this.#asked.add(index)
      asks.push(index)
    }
    return asks
  }

  imported(index: number): void {
    assert(this.#asked.delete(index), 'a response belongs to a request')
    this.#failures = 0
  }

  failed(index: number): void {
    assert(this.#asked.delete(index), 'a response belongs to a request')
    this.#failed.push(index)
    this.#failed.sort((a, b) => a - b)
    this.#failures++
  }

  #peek(): number | undefined {
    const [failed] = this.#failed
    if (failed !== undefined) return failed
    const { to, done } = this.#options
    while (this.#next < to && done.has(this.#next)) this.#next++
    return this.#next < to ? this.#next : undefined
  }
}
