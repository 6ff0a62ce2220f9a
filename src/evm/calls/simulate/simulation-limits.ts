import { CodedError } from '@tandem/base/errors.ts'
import { SIMULATE_LIMITS } from '../../../config/limits/clients.ts'
import type { CallError, Interrupt } from '../../engine.ts'
import { SliceClock } from '../../slice-clock.ts'
import type { SimulatedCall } from './types.ts'

/** Size of a log in a response besides its data. */
const LOG_BYTES = 512

export const simulationLimit = (what: string) => new CodedError<CallError>({ code: 'SIMULATION_LIMIT', what })

/** Usage of one simulation against its limits. */
export class SimulationLimits {
  #gas: bigint
  readonly #allowance: bigint
  #answerBytes = 0
  #changes = 0
  #hashed = 0
  readonly #slices: SliceClock | undefined

  constructor(gas: bigint, interrupt: Interrupt | undefined) {
    this.#gas = gas
    this.#allowance = gas
    this.#slices = interrupt && new SliceClock(interrupt)
  }

  /** Returns the gas for a call, at most `wanted`. Throws SIMULATION_LIMIT when there is none left. */
  gasFor(wanted: bigint): bigint {
    if (this.#gas === 0n && wanted > 0n) throw simulationLimit(`${this.#allowance} gas for all calls together`)
    return wanted < this.#gas ? wanted : this.#gas
  }

  called({ output, logs, gasUsed }: SimulatedCall): void {
    this.#gas -= gasUsed
    this.#answerBytes += output.byteLength
    for (const { data } of logs) this.#answerBytes += LOG_BYTES + data.byteLength
    const limit = SIMULATE_LIMITS.answerBytes
    if (this.#answerBytes > limit) throw simulationLimit(`${limit} bytes of results and logs`)
  }

  changed(entries: number): void {
    this.#changes += entries
    const limit = SIMULATE_LIMITS.changes
    if (this.#changes > limit) throw simulationLimit(`${limit} changed accounts and slots`)
  }

  /** Counts a computation of all hashes so far: its work grows with the changes. */
  hashed(): void {
    this.#hashed += this.#changes
    const limit = SIMULATE_LIMITS.hashedChanges
    if (this.#hashed > limit)
      throw simulationLimit(`${limit} changed accounts and slots under the block hashes that code reads`)
  }

  /** Between two calls: yields to other work when the slice is over, and stops at the time limit. */
  pause(): Promise<void> | undefined {
    return this.#slices?.check()
  }
}
