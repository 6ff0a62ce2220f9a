/** Limits of a worker without a heartbeat. */
export interface SilenceLimits {
  /** Processor time of its thread; passed time where the system does not tell it. */
  readonly stuckMs: number
  /** Passed time, in which it may have waited for a processor. */
  readonly blockedMs: number
}

/** Worker as it is seen at one moment. */
interface WorkerSign {
  readonly beats: number
  /** Processor time of its thread; undefined where it cannot be told, and passed time counts instead. */
  readonly usedMs: number | undefined
}

/**
 * Time since the last heartbeat of a worker, in processor time of its thread: one that waits for a processor does not hang. Passed time
 * counts only when it is long, for a thread that waits for something else.
 */
export class Silence {
  readonly #limits: SilenceLimits
  #sign: WorkerSign
  #sinceMs: number

  constructor(nowMs: number, limits: SilenceLimits) {
    this.#limits = limits
    this.#sign = { beats: 0, usedMs: undefined }
    this.#sinceMs = nowMs
  }

  /** Passed time since the last heartbeat that was seen. */
  ms(nowMs: number): number {
    return nowMs - this.#sinceMs
  }

  /** Returns true when the silence is too long. An idle worker says nothing and does not hang. */
  isLong(sign: WorkerSign, nowMs: number, isIdle: boolean): boolean {
    const { beats, usedMs } = this.#sign
    if (isIdle || sign.beats !== beats || (usedMs === undefined) !== (sign.usedMs === undefined)) {
      this.#sign = sign
      this.#sinceMs = nowMs
      return false
    }
    const passedMs = this.ms(nowMs)
    const silentMs = usedMs === undefined || sign.usedMs === undefined ? passedMs : sign.usedMs - usedMs
    return silentMs > this.#limits.stuckMs || passedMs > this.#limits.blockedMs
  }
}
