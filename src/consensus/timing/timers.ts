import type { Clock } from '@tandem/base/clock.ts'

/** One timer per name; setting it replaces the previous one. */
export class Timers<Name extends string> {
  readonly #clock: Clock
  readonly #cancels = new Map<Name, () => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  set(name: Name, atMs: number, fire: () => void): void {
    this.cancel(name)
    this.#cancels.set(name, this.#clock.schedule(atMs, fire))
  }

  cancel(name: Name): void {
    this.#cancels.get(name)?.()
    this.#cancels.delete(name)
  }

  cancelAll(): void {
    for (const name of [...this.#cancels.keys()]) this.cancel(name)
  }
}
