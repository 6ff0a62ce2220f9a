import type { Clock } from '../../util/clock.ts'

/** Far below the limit where Node's timers overflow and fire at once. */
const LONGEST_MS = 2 ** 30

/** One timer per name; setting it replaces the previous one. */
export class Timers<Name extends string> {
  readonly #clock: Clock
  readonly #cancels = new Map<Name, () => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  set(name: Name, atMs: number, fire: () => void): void {
    this.cancel(name)
    const due = Math.min(atMs, this.#clock.nowMs() + LONGEST_MS)
    const again = () => (due < atMs ? this.set(name, atMs, fire) : fire())
    this.#cancels.set(name, this.#clock.schedule(due, again))
  }

  cancel(name: Name): void {
    this.#cancels.get(name)?.()
    this.#cancels.delete(name)
  }

  cancelAll(): void {
    for (const name of [...this.#cancels.keys()]) this.cancel(name)
  }
}
