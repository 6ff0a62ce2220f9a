/** Time as a dependency, so that a simulator can control it. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. */
  nowMs(): number
  /** Processor time of this thread, milliseconds; omitted where only `nowMs` tells the time. */
  readonly cpuMs?: () => number
  /** Runs `fn` once at or after `atMs`; the returned function cancels it. */
  schedule(atMs: number, fn: () => void): () => void
}

/** Far below the limit where Node's timers overflow and fire at once, again and again for one that looks at the time. */
const LONGEST_MS = 2 ** 30

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  cpuMs() {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1e3
  },
  schedule(atMs, fn) {
    let timer: NodeJS.Timeout
    const wait = (): void => {
      const leftMs = Math.max(0, atMs - Date.now())
      timer = leftMs > LONGEST_MS ? setTimeout(wait, LONGEST_MS) : setTimeout(fn, leftMs)
    }
    wait()
    return () => clearTimeout(timer)
  },
}

/** Time since the start of the process, which nobody sets: for durations, holds and pauses. */
export const steadyClock: Clock = {
  nowMs: () => performance.now(),
  schedule(atMs, fn) {
    const timer = setTimeout(fn, Math.max(0, atMs - performance.now()))
    return () => clearTimeout(timer)
  },
}

/** Times of a clock that may be set back, as they would be if it had stood still instead: for durations that no step may shorten. */
export class ForwardTime {
  #lastMs = Number.NEGATIVE_INFINITY
  #backMs = 0

  /** Returns the time of a moment, milliseconds; moments are told in their order. */
  at(nowMs: number): number {
    this.#backMs += Math.max(0, this.#lastMs - nowMs)
    this.#lastMs = nowMs
    return nowMs + this.#backMs
  }
}
