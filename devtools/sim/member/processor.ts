import { delayOn, type Host } from './host.ts'

/** Longest piece of work between two looks at what else there is, milliseconds. */
const SLICE_MS = 100

/** Callbacks of work under way. */
interface WorkControl {
  /** Called at the beginning of each slice. */
  readonly onSlice?: () => void
  /** Returns true when the result is no longer needed. */
  readonly isCancelled?: () => boolean
  /** Registers a listener for changes of `isCancelled`. */
  readonly wake?: (listener: () => void) => void
}

/** The one thread on which a process executes blocks: pieces of work that go on at the same time take turns, so each takes longer. */
export class Processor {
  readonly #host: Host
  #running = 0

  constructor(host: Host) {
    this.#host = host
  }

  /** Resolves when the work is done, or is cancelled: then it answers false. */
  async run(workMs: number, { onSlice, isCancelled = () => false, wake }: WorkControl = {}): Promise<boolean> {
    this.#running++
    const { promise: woken, resolve } = Promise.withResolvers<void>()
    wake?.(() => {
      if (isCancelled()) resolve()
    })
    try {
      for (let leftMs = workMs; leftMs > 0; ) {
        if (isCancelled()) return false
        onSlice?.()
        const sliceMs = Math.min(leftMs, SLICE_MS)
        await Promise.race([delayOn(this.#host, sliceMs * this.#running), woken])
        leftMs -= sliceMs
      }
      return !isCancelled()
    } finally {
      this.#running--
    }
  }
}
