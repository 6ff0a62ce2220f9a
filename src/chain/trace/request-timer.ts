import { LIMITS } from '../../config/limits.ts'
import type { Interrupt } from '../../evm/engine.ts'
import type { TraceError } from '../../evm/tracers/config.ts'
import type { Backpressure } from '../../evm/tracers/tracer.ts'
import { CodedError } from '../../util/errors.ts'

export interface RequestTimerOptions {
  /** Gives the other traces their turn. */
  giveWay(): Promise<void>
  isCancelled(): boolean
  readonly nowMs: () => number
}

/** Measures one request's own work: neither the turns of others nor its reader's pauses count. */
export class RequestTimer implements Interrupt {
  readonly sliceMs: number = LIMITS.execution.callSliceMs
  readonly #options: RequestTimerOptions
  #ranMs = 0
  #sinceMs: number
  #sliceEndMs: number
  #timeoutMs: number = LIMITS.trace.maxTimeoutMs
  #deadlineMs: number = LIMITS.trace.maxTimeoutMs

  constructor(options: RequestTimerOptions) {
    this.#options = options
    this.#sinceMs = options.nowMs()
    this.#sliceEndMs = this.#sinceMs + this.sliceMs
  }

  /** The next transaction has so much time, within that of the whole request. */
  restart(timeoutMs: number): void {
    this.#timeoutMs = timeoutMs
    this.#deadlineMs = Math.min(this.#elapsedMs() + timeoutMs, LIMITS.trace.maxTimeoutMs)
  }

  giveWay(): Promise<void> {
    return this.pausing(this.#options.giveWay())
  }

  shouldStop(): boolean {
    return this.#options.isCancelled() || this.#elapsedMs() >= this.#deadlineMs
  }

  /** Between pieces of work that ask nothing themselves. Throws TRACE_TIMEOUT. */
  async turn(): Promise<void> {
    await this.rest()
    if (this.shouldStop()) throw this.timeout()
  }

  /** The same for what goes on to its end in any case. */
  async rest(): Promise<void> {
    if (this.#options.nowMs() >= this.#sliceEndMs) await this.giveWay()
  }

  timeout(): CodedError<TraceError> {
    return new CodedError({ code: 'TRACE_TIMEOUT', timeoutMs: this.#timeoutMs })
  }

  /** Time in which this request does nothing. */
  async pausing(wait: Promise<void>): Promise<void> {
    this.#ranMs = this.#elapsedMs()
    // Until it goes on nothing is added: two waits never run at once.
    this.#sinceMs = Number.POSITIVE_INFINITY
    await wait
    this.#sinceMs = this.#options.nowMs()
    this.#sliceEndMs = this.#sinceMs + this.sliceMs
  }

  /** The flow of an output whose pauses do not count. */
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
