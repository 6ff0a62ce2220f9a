/** Time as a dependency, so that a simulator can control it. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. */
  nowMs(): number
  /** Runs `fn` once at or after `atMs`; the returned function cancels it. */
  schedule(atMs: number, fn: () => void): () => void
}

/** Far below the limit where Node's timers overflow and fire at once, again and again for one that looks at the time. */
const LONGEST_MS = 2 ** 30

export const systemClock: Clock = {
  nowMs: () => Date.now(),
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
