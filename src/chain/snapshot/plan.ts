import { assert } from '../../util/assert.ts'

export interface ChunkPlanOptions {
  readonly chunks: number
  /** Chunks that are in already. */
  readonly done: Iterable<number>
  /** Stages begin at these indexes, ascending: nothing of a stage is asked for before the stage before it is in. */
  readonly stages: readonly number[]
  /** Chunks asked for or waiting to be imported: the bound on memory. */
  readonly parallel: number
}

/**
 * Which chunks of a snapshot to ask for: lowest first, several at once, each until it is in. Those that failed come again before any
 * later one.
 */
export class ChunkPlan {
  readonly #options: ChunkPlanOptions
  readonly #done: Set<number>
  readonly #asked = new Set<number>()
  /** Every chunk below is in or asked for. */
  #next = 0
  #failures = 0
  /** Every chunk below is in. */
  #inUpTo = 0
  /** Where the stages end that are not known to be in. */
  readonly #ends: number[]

  constructor(options: ChunkPlanOptions) {
    this.#options = options
    this.#done = new Set(options.done)
    this.#ends = [...options.stages, options.chunks]
    for (const index of this.#done) assert(index >= 0 && index < options.chunks, 'a chunk of this snapshot')
  }

  get done(): number {
    return this.#done.size
  }

  get isDone(): boolean {
    return this.#done.size === this.#options.chunks
  }

  /** Failures since a chunk came in last. */
  get failures(): number {
    return this.#failures
  }

  /** What to ask now; each is to be answered by `imported` or `failed`. */
  ask(): readonly number[] {
    const asks: number[] = []
    while (this.#asked.size < this.#options.parallel) {
      const index = this.#lowest()
      if (index === undefined) break
      this.#asked.add(index)
      asks.push(index)
    }
    return asks
  }

  imported(index: number): void {
    assert(this.#asked.delete(index), 'an answer belongs to a question')
    this.#done.add(index)
    this.#failures = 0
  }

  failed(index: number): void {
    assert(this.#asked.delete(index), 'an answer belongs to a question')
    this.#next = Math.min(this.#next, index)
    this.#failures++
  }

  #lowest(): number | undefined {
    const end = this.#stageEnd()
    for (let index = this.#next; index < end; index++) {
      if (this.#done.has(index) || this.#asked.has(index)) continue
      this.#next = index
      return index
    }
    return undefined
  }

  /** The end of the first stage that is not in. Those before it are never looked at again. */
  #stageEnd(): number {
    for (;;) {
      const end = this.#ends[0] as number
      if (this.#ends.length === 1 || !this.#isInUpTo(end)) return end
      this.#ends.shift()
    }
  }

  #isInUpTo(end: number): boolean {
    while (this.#inUpTo < end && this.#done.has(this.#inUpTo)) this.#inUpTo++
    return this.#inUpTo >= end
  }
}
