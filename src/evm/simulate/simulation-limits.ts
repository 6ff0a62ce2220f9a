import { SIMULATE_LIMITS } from '../../config/limits/clients.ts'
import { CodedError } from '../../util/errors.ts'
import type { CallError } from '../calls/types.ts'
import type { Interrupt, InterruptedError } from '../engine.ts'
import type { SimulatedCall } from './types.ts'

/** A log in an answer besides its data. */
const LOG_BYTES = 512

const exceeded = (what: string) => new CodedError<CallError>({ code: 'SIMULATION_LIMIT', what })

/** What one simulation has used of what it may. */
export class SimulationLimits {
  #gas: bigint
  readonly #allowance: bigint
  #answerBytes = 0
  #changes = 0
  #hashed = 0
  readonly #interrupt: Interrupt | undefined
  #sliceEndMs = 0

  constructor(gas: bigint, interrupt: Interrupt | undefined) {
    this.#gas = gas
    this.#allowance = gas
    this.#interrupt = interrupt
  }

  /** The gas a call may have of what it wants. Throws SIMULATION_LIMIT when there is none left. */
  gasFor(wanted: bigint): bigint {
    if (this.#gas === 0n && wanted > 0n) throw exceeded(`${this.#allowance} gas for all calls together`)
    return wanted < this.#gas ? wanted : this.#gas
  }

  called({ output, logs, gasUsed }: SimulatedCall): void {
    this.#gas -= gasUsed
    this.#answerBytes += output.byteLength
    for (const { data } of logs) this.#answerBytes += LOG_BYTES + data.byteLength
    const limit = SIMULATE_LIMITS.answerBytes
    if (this.#answerBytes > limit) throw exceeded(`${limit} bytes of results and logs`)
  }

  changed(entries: number): void {
    this.#changes += entries
    const limit = SIMULATE_LIMITS.changes
    if (this.#changes > limit) throw exceeded(`${limit} changed accounts and slots`)
  }

  /** Hashes of all blocks so far are made: as much work as there are changes in them. */
  hashed(): void {
    this.#hashed += this.#changes
    const limit = SIMULATE_LIMITS.hashedChanges
    if (this.#hashed > limit)
      throw exceeded(`${limit} changed accounts and slots under the block hashes that code asked for`)
  }

  /** Between two calls: gives other work its turn when this one's is over, and stops when it is time. */
  pause(): Promise<void> | undefined {
    return performance.now() < this.#sliceEndMs ? undefined : this.#giveWay()
  }

  async #giveWay(): Promise<void> {
    const interrupt = this.#interrupt
    if (interrupt === undefined) return
    await interrupt.giveWay?.()
    if (interrupt.shouldStop()) throw new CodedError<InterruptedError>({ code: 'EXECUTION_INTERRUPTED' })
    this.#sliceEndMs = performance.now() + interrupt.sliceMs
  }
}
