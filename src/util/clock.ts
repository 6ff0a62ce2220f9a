/** Time as a dependency, so that a simulator can control it. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. */
  nowMs(): number
  /** Runs `fn` once at or after `atMs`; the returned function cancels it. */
  schedule(atMs: number, fn: () => void): () => void
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  schedule(atMs, fn) {
    const timer = setTimeout(fn, Math.max(0, atMs - Date.now()))
    return () => clearTimeout(timer)
  },
}
