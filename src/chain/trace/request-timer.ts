import { CodedError } from '@tandem/base/errors.ts'
import { TRACE_LIMITS } from '../../config/limits/clients.ts'
import { EXECUTION_LIMITS } from '../../config/limits/execution.ts'
import type { Interrupt } from '../../evm/engine.ts'
import type { Backpressure } from '../../evm/tracer.ts'
import type { TraceError } from '../../evm/tracers/config.ts'

interface RequestTimerOptions {
  /** Yields to the other traces. */
  giveWay(): Promise<void>
  isCancelled(): boolean
  readonly nowMs: () => number
}

/** Measures the execution time of one request, without the time of other requests or pauses of its reader. */
export class RequestTimer implements Interrupt {
  readonly sliceMs: number = EXECUTION_LIMITS.callSliceMs
  readonly #options: RequestTimerOptions
  #ranMs = 0
  #sinceMs: number
  #sliceEndMs: number
  #timeoutMs: number = TRACE_LIMITS.maxTimeoutMs
  #deadlineMs: number = TRACE_LIMITS.maxTimeoutMs

  constructor(options: RequestTimerOptions) {
    this.#options = options
    this.#sinceMs = options.nowMs()
    this.#sliceEndMs = this.#sinceMs + this.sliceMs
  }

  /** Gives the next transaction its own timeout, within that of the whole request. */
  restart(timeoutMs: number): void {
    this.#timeoutMs = timeoutMs
    this.#deadlineMs = Math.min(this.#elapsedMs() + timeoutMs, TRACE_LIMITS.maxTimeoutMs)
  }

  giveWay(): Promise<void> {
    return this.pausing(this.#options.giveWay())
  }

  shouldStop(): boolean {
    return this.#options.isCancelled() || this.#elapsedMs() >= this.#deadlineMs
  }

  /** Called between pieces of work that do not check the time themselves. Throws TRACE_TIMEOUT. */
  async turn(): Promise<void> {
    await this.rest()
    if (this.shouldStop()) throw this.timeout()
  }

  /** Like `turn`, for work that always runs to its end. */
  async rest(): Promise<void> {
    if (this.#options.nowMs() >= this.#sliceEndMs) await this.giveWay()
  }

  timeout(): CodedError<TraceError> {
    return new CodedError({ code: 'TRACE_TIMEOUT', timeoutMs: this.#timeoutMs })
  }

  /** Excludes a wait from the measured time. */
  async pausing(wait: Promise<void>): Promise<void> {
    this.#ranMs = this.#elapsedMs()
    // Excludes the time until the end of the wait; two waits never overlap.
    this.#sinceMs = Number.POSITIVE_INFINITY
    await wait
    this.#sinceMs = this.#options.nowMs()
    this.#sliceEndMs = this.#sinceMs + this.sliceMs
  }

  /** Wraps the backpressure of an output so that its pauses are not measured. */
  around(backpressure: Backpressure): Backpressure {
    return {
      get isFull() {
        return backpressure.isFull
      },
      drained: () => this.pausing(backpressure.drained()),
    }
  }

  #elapsedMs(): number {
    const now = this.#options.nowMs()
    return this.#ranMs + (now > this.#sinceMs ? now - this.#sinceMs : 0)
  }
}
