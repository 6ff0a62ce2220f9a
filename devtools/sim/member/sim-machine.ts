import type { EventQueue } from '../network/event-queue.ts'
import type { CrashPoint } from './crash-points.ts'
import type { Host } from './host.ts'

/** Power and time of one process. */
export class SimMachine implements Host {
  isDead = false
  readonly #queue: EventQueue
  readonly #onPoint: (point: CrashPoint) => void
  #pausedUntilMs = Number.NEGATIVE_INFINITY
  /** Events held back during a pause. */
  #held: (() => void)[] = []

  constructor(queue: EventQueue, onPoint: (point: CrashPoint) => void) {
    this.#queue = queue
    this.#onPoint = onPoint
  }

  later(delayMs: number, run: () => void): void {
    if (delayMs > 0) this.#queue.at(this.#queue.nowMs + delayMs, () => this.#run(run))
    else this.#run(run)
  }

  reaches(point: CrashPoint): boolean {
    if (!this.isDead) this.#onPoint(point)
    return !this.isDead
  }

  pause(forMs: number): void {
    const untilMs = this.#queue.nowMs + forMs
    if (untilMs <= this.#pausedUntilMs) return
    this.#pausedUntilMs = untilMs
    this.#queue.at(untilMs, () => {
      if (untilMs === this.#pausedUntilMs) this.resume()
    })
  }

  /** Runs all held events in order. */
  resume(): void {
    this.#pausedUntilMs = Math.min(this.#pausedUntilMs, this.#queue.nowMs)
    const held = this.#held
    this.#held = []
    for (const run of held) this.#queue.at(this.#queue.nowMs, () => this.#run(run))
  }

  /** Runs a callback after this time without a pause. */
  soon(delayMs: number, run: () => void): void {
    this.later(delayMs, () => {
      if (this.#queue.nowMs - this.#pausedUntilMs < delayMs) this.soon(delayMs, run)
      else run()
    })
  }

  kill(): void {
    this.isDead = true
  }

  #run(run: () => void): void {
    if (this.isDead) return
    if (this.#queue.nowMs >= this.#pausedUntilMs) run()
    else this.#held.push(run)
  }
}
