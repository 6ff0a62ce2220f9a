import { assert } from '@tandem/base/assert.ts'
import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { wholePrice } from '../../../rules/execution-rules.ts'
import { gasBoundExceeded } from '../../engine.ts'
import { PRECOMPILE_REASON } from '../../failure-reasons.ts'
import { callPrecompile, type PrecompileResult } from '../precompiles/precompile.ts'
import { PRECOMPILES } from '../precompiles/table.ts'
import { LAYOUT } from './evm-module.ts'
import { STATUS } from './protocol.ts'
import type { RunState } from './run-state.ts'

const NOT_PAID: PrecompileResult = { output: EMPTY_BYTES, gasUsed: 0n, failure: PRECOMPILE_REASON.outOfGas }

/** Precompiles that one message calls. */
export class PrecompileCalls {
  readonly #run: RunState
  readonly #isCalledByCode: boolean
  /** Failure of the last precompile. */
  failure: string | undefined = undefined

  /** `isCalledByCode`: reasons of failures are not seen then. */
  constructor(run: RunState, isCalledByCode: boolean) {
    this.#run = run
    this.#isCalledByCode = isCalledByCode
  }

  /** Runs the precompile that the module waits for, and returns the status to go on with. */
  call(number: number): number | Promise<number> {
    const { machine } = this.#run
    const { wasm } = machine
    const { rules, env } = this.#run
    const precompile = PRECOMPILES.get(number)
    assert(precompile !== undefined, 'a precompile has a row')
    // A precompile that needs more than the message's bound has exceeded it, so it need not run.
    const gas = lower(wasm.frameGas(), wasm.gasBoundLeft())
    const price = env.params.precompilePrices?.[number] ?? undefined
    // Fails before its input is read: that costs little, and there may be many.
    const { least } = precompile
    if (this.#isCalledByCode && gas < (price === undefined ? least : wholePrice(price, least)))
      return this.#finish(gas, NOT_PAID)
    const at = wasm.inputAt()
    const data = machine.bytes.subarray(at, at + wasm.inputSize())
    const result = callPrecompile(precompile, { data, gas, fork: rules.fork, price, check: () => this.#run.check() })
    return result instanceof Promise ? result.then(done => this.#finish(gas, done)) : this.#finish(gas, result)
  }

  /** `limit`: gas it was given, less than the frame's near the message's bound. A failure consumes all of the frame's gas. */
  #finish(limit: bigint, { output, gasUsed, failure }: PrecompileResult): number {
    const { machine } = this.#run
    const gas = machine.wasm.frameGas()
    if (failure !== undefined && limit < gas) throw gasBoundExceeded()
    this.failure = failure
    if (output.byteLength > LAYOUT.output) return STATUS.exhausted
    if (failure !== undefined) this.#run.steps?.precompileFailed(failure)
    machine.bytes.set(output, machine.wasm.returnedAt())
    const status = machine.wasm.precompiled(failure === undefined, gas - gasUsed, output.byteLength)
    return status === STATUS.done ? STATUS.done : STATUS.goesOn
  }
}

const lower = (gas: bigint, bound: bigint): bigint => (bound < 0n ? 0n : bound < gas ? bound : gas)
