import { yieldToEventLoop } from '@tandem/base/async/delay.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { Interrupt, InterruptedError } from '../../engine.ts'

/** Cheap opcodes between two checks of the clock. */
const STEPS_PER_CHECK = 2_000

/** Counts steps across the frames of one message; yields to other work and stops on demand. */
export class StepClock {
  readonly #interrupt: Interrupt | undefined
  #sliceEndMs = 0
  steps = STEPS_PER_CHECK

  constructor(interrupt: Interrupt | undefined) {
    this.#interrupt = interrupt
    if (interrupt !== undefined) this.#sliceEndMs = performance.now() + interrupt.sliceMs
  }

  /** Called when `steps` is used up; returns a promise only when it is time to yield. */
  check(): Promise<void> | undefined {
    this.steps = STEPS_PER_CHECK
    const interrupt = this.#interrupt
    return interrupt === undefined || performance.now() < this.#sliceEndMs ? undefined : this.#pause(interrupt)
  }

  async #pause(interrupt: Interrupt): Promise<void> {
    await (interrupt.giveWay?.() ?? yieldToEventLoop())
    if (interrupt.shouldStop()) throw new CodedError<InterruptedError>({ code: 'EXECUTION_INTERRUPTED' })
    this.#sliceEndMs = performance.now() + interrupt.sliceMs
  }
}
