import { serverError } from './errors.ts'

/** So many at once, in the order they asked; a bounded number waits. */
export class Slots {
  readonly #waiting: (() => void)[] = []
  readonly #limit: number
  readonly #queue: number
  #taken = 0

  constructor(limit: number, queue: number) {
    this.#limit = limit
    this.#queue = queue
  }

  /** Resolves with what gives the place back. Throws when too many wait. */
  async take(): Promise<() => void> {
    if (this.#taken < this.#limit) this.#taken++
    else if (this.#waiting.length >= this.#queue)
      throw serverError('too many large answers are waiting, try again later')
    // Whoever leaves hands its place on.
    else await new Promise<void>(resolve => this.#waiting.push(resolve))
    return () => {
      const next = this.#waiting.shift()
      if (next === undefined) this.#taken--
      else next()
    }
  }
}
