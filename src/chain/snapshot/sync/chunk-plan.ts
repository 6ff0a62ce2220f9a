import { assert } from '../../../util/assert.ts'

export interface ChunkPlanOptions {
  /** The first chunk, and the one after the last. */
  readonly from: number
  readonly to: number
  /** Chunks that are in already, those of others among them. */
  readonly done: ReadonlySet<number>
  /** Chunks asked for or waiting to be imported: the bound on memory. */
  readonly parallel: number
}

/** Which chunks to ask for: lowest first, several at once, each until it is in; those that failed come again before any later one. */
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

  /** Nothing is asked for, and nothing is left to ask. */
  get isDone(): boolean {
    return this.#asked.size === 0 && this.#peek() === undefined
  }

  /** Failures since a chunk came in last. */
  get failures(): number {
    return this.#failures
  }

  /** What to ask now; each is to be answered by `imported` or `failedResult`. */
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
    assert(this.#asked.delete(index), 'an answer belongs to a question')
    this.#failures = 0
  }

  failed(index: number): void {
    assert(this.#asked.delete(index), 'an answer belongs to a question')
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
