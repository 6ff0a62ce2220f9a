import type { Clock } from '@tandem/base/clock.ts'

/** Time that moves only when told. */
export class ManualClock implements Clock {
  #nowMs: number
  #sequence = 0
  #timers: { readonly atMs: number; readonly order: number; readonly fire: () => void }[] = []

  constructor(nowMs = 1_000_000_000_000) {
    this.#nowMs = nowMs
  }

  nowMs(): number {
    return this.#nowMs
  }

  schedule(atMs: number, fire: () => void): () => void {
    const timer = { atMs: Math.max(atMs, this.#nowMs), order: this.#sequence++, fire }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter(other => other !== timer)
    }
  }

  get nextMs(): number | undefined {
    return this.#next()?.atMs
  }

  /** Fires what is due within `ms`, letting promises settle after each. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms
    await settle()
    for (let next = this.#next(); next !== undefined && next.atMs <= endMs; next = this.#next()) {
      this.#timers = this.#timers.filter(other => other !== next)
      this.#nowMs = next.atMs
      next.fire()
      await settle()
    }
    this.#nowMs = endMs
  }

  #next() {
    return this.#timers.toSorted((a, b) => a.atMs - b.atMs || a.order - b.order)[0]
  }
}

/** Promise chains without timers come to rest. */
export const settle = async (turns = 3): Promise<void> => {
  for (let i = 0; i < turns; i++) await new Promise<void>(resolve => setImmediate(resolve))
}
