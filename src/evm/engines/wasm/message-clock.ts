import { CodedError } from '@tandem/base/errors.ts'
import type { EngineOptions, InterruptedError } from '../../engine.ts'
import type { Machine } from './machine.ts'

/** Bytes of logs between two checks: they cost more time after the message than while it runs. */
const LOG_BYTES_PER_LOOK = 256 * 1024

/** Time slices of one message: when it gives way to other work, and when it must stop. */
export class MessageClock {
  readonly #machine: Machine
  readonly #interrupt: EngineOptions['interrupt']
  #sliceEndMs: number
  #logBytesSeen = 0

  constructor(machine: Machine, interrupt: EngineOptions['interrupt']) {
    this.#machine = machine
    this.#interrupt = interrupt
    this.#sliceEndMs = interrupt === undefined ? 0 : performance.now() + interrupt.sliceMs
  }

  get #logBytes(): number {
    const { wasm } = this.#machine
    return wasm.logsEndAt() - wasm.logsStartAt()
  }

  /** Returns a promise when the time slice is over, or when logs became many; it rejects when the message must stop. */
  check(): Promise<void> | undefined {
    if (this.#interrupt === undefined) return undefined
    if (performance.now() < this.#sliceEndMs && this.#logBytes < this.#logBytesSeen + LOG_BYTES_PER_LOOK)
      return undefined
    return this.#giveWay(this.#interrupt)
  }

  async #giveWay(interrupt: NonNullable<EngineOptions['interrupt']>): Promise<void> {
    this.#logBytesSeen = this.#logBytes
    await (interrupt.giveWay?.() ?? new Promise<void>(resolve => setImmediate(resolve)))
    if (interrupt.shouldStop(this.#logBytesSeen))
      throw new CodedError<InterruptedError>({ code: 'EXECUTION_INTERRUPTED' })
    this.#sliceEndMs = performance.now() + interrupt.sliceMs
  }
}
