import { EVM_FORKS, type EvmFork } from '../../../config/forks.ts'
import { gasBoundExceeded } from '../gas-bound.ts'
import type { PrecompileResult } from './precompile-host.ts'
import { STATUS } from './protocol.ts'
import { type QuickPrecompiles, quickPrecompilesAt } from './quick-precompiles.ts'
import type { RunState } from './run-state.ts'

const QUICK = Object.fromEntries(EVM_FORKS.map(fork => [fork, quickPrecompilesAt(fork)])) as Record<
  EvmFork,
  QuickPrecompiles
>

let precompileHost: typeof import('./precompile-host.ts') | undefined

/** Precompiles that one message calls. */
export class PrecompileCalls {
  readonly #run: RunState
  readonly #check: () => Promise<void> | undefined
  #failure: string | undefined = undefined

  /** `check` returns a promise when it is time to yield. */
  constructor(run: RunState, check: () => Promise<void> | undefined) {
    this.#run = run
    this.#check = check
  }

  /** Failure of the last precompile. */
  get failure(): string | undefined {
    return this.#failure
  }

  /** Runs the precompile that the module waits for, and returns the status to go on with. */
  call(number: number): number | Promise<number> {
    const { machine } = this.#run
    const { wasm } = machine
    // Copied: the module's memory may grow, and move, while the precompile waits.
    const data = machine.copy(wasm.inputAt(), wasm.inputSize())
    // A precompile that needs more than the message's bound has exceeded it, so it need not run.
    const limit = lower(wasm.frameGas(), wasm.gasBoundLeft())
    const quick = QUICK[this.#run.rules.fork][number]?.(data, limit)
    if (quick !== undefined) return this.#finish(limit, quick)
    if (precompileHost !== undefined) return this.#runHosted(precompileHost, number, data, limit)
    return import('./precompile-host.ts').then(host => {
      precompileHost = host
      return this.#runHosted(host, number, data, limit)
    })
  }

  #runHosted(
    host: typeof import('./precompile-host.ts'),
    number: number,
    data: Uint8Array,
    limit: bigint,
  ): number | Promise<number> {
    const result = host.runPrecompile(this.#run.env, number, data, limit, this.#check)
    return result instanceof Promise ? result.then(done => this.#finish(limit, done)) : this.#finish(limit, result)
  }

  /**
   * `limit`: gas that it was given, less than the frame's where the bound of the message is near. A failure consumes all of the frame's
   * gas.
   */
  #finish(limit: bigint, { output, gasUsed, failure }: PrecompileResult): number {
    const { machine } = this.#run
    const gas = machine.wasm.frameGas()
    if (failure !== undefined && limit < gas) throw gasBoundExceeded()
    const room = machine.returnRoom()
    this.#failure = failure
    if (output.byteLength > room) return STATUS.exhausted
    machine.bytes.set(output, machine.wasm.returnedAt())
    const status = machine.wasm.precompiled(failure === undefined, gas - gasUsed, output.byteLength)
    return status === STATUS.done ? STATUS.done : STATUS.goesOn
  }
}

const lower = (gas: bigint, bound: bigint): bigint => (bound < 0n ? 0n : bound < gas ? bound : gas)
