interface StallLimits {
  /** Time that a reader may take nothing. */
  readonly stallMs: number
  /** Bytes that it takes in each millisecond of waiting at least, on average. */
  readonly bytesPerMs: number
}

/** Patience with the reader of a response: it ends when the reader takes nothing for a while, or less than the slowest average. */
export class StallTimer {
  readonly #limits: StallLimits
  readonly #onStall: () => void
  readonly #isPatient: () => boolean
  #timer: NodeJS.Timeout | undefined
  #sinceMs = 0
  #waitedMs = 0
  #bytes = 0

  /** A slow reader is tolerated while `isPatient` returns true, and what it was then is forgotten. */
  constructor(limits: StallLimits, onStall: () => void, isPatient = () => false) {
    this.#limits = limits
    this.#onStall = onStall
    this.#isPatient = isPatient
  }

  /** Called with the bytes of each piece that is sent. */
  count(bytes: number): void {
    this.#bytes += bytes
  }

  /** Called when nothing more can be sent before the reader takes something. */
  wait(): void {
    this.#sinceMs = performance.now()
    this.#schedule()
  }

  /** Called when the reader has taken something, and at the end. */
  stop(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#waitedMs += performance.now() - this.#sinceMs
    this.#forgive()
  }

  #forgive(): boolean {
    if (!this.#isPatient()) return false
    this.#sinceMs = performance.now()
    this.#waitedMs = this.#bytes = 0
    return true
  }

  readonly #schedule = (): void => {
    if (this.#forgive()) {
      this.#timer = setTimeout(this.#schedule, PATIENCE_MS)
      return
    }
    const { stallMs, bytesPerMs } = this.#limits
    const debtMs = Math.max(0, this.#waitedMs - this.#bytes / bytesPerMs)
    const leftMs = Math.max(0, Math.ceil(stallMs - debtMs - (performance.now() - this.#sinceMs)))
    this.#timer = setTimeout(() => (this.#isPatient() ? this.#schedule() : this.#onStall()), leftMs)
  }
}

/** Interval in which `isPatient` is asked again. */
const PATIENCE_MS = 1_000
