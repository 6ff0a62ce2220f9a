import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { EVM_FORKS, type EvmFork } from '../../../config/forks.ts'
import { gasForWork, wholePrice } from '../../../rules/precompile-price.ts'
import { REASON } from '../failure-reasons.ts'
import { gasBoundExceeded } from '../gas-bound.ts'
import type { PrecompileResult } from './precompile-host.ts'
import { STATUS } from './protocol.ts'
import { type QuickPrecompiles, quickPrecompilesAt } from './quick-precompiles.ts'
import type { RunState } from './run-state.ts'

const QUICK = Object.fromEntries(EVM_FORKS.map(fork => [fork, quickPrecompilesAt(fork)])) as Record<
  EvmFork,
  QuickPrecompiles
>

type Host = typeof import('./precompile-host.ts')
let precompileHost: Host | undefined

const NOT_PAID: PrecompileResult = { output: EMPTY_BYTES, gasUsed: 0n, failure: REASON.outOfGas }

/**
 * Least gas that any input costs, by number, at any fork. A call with less fails before its input is read: it costs little, and there may be
 * many.
 */
const LEAST_GAS: Readonly<Record<number, bigint>> = {
  ...{ 3: 600n, 7: 6_000n, 8: 45_000n, 10: 50_000n, 256: 3_450n },
  ...{ 11: 375n, 12: 12_000n, 13: 600n, 14: 22_500n, 15: 70_300n, 16: 5_500n, 17: 23_800n },
}

/** Precompiles that one message calls. */
export class PrecompileCalls {
  readonly #run: RunState
  readonly #check: () => Promise<void> | undefined
  readonly #isCalledByCode: boolean
  #failure: string | undefined = undefined

  /**
   * `isCalledByCode`: the message itself is not to a precompile, so that no reason of a failure is seen. `check` returns a promise when it
   * is time to yield.
   */
  constructor(run: RunState, isCalledByCode: boolean, check: () => Promise<void> | undefined) {
    this.#run = run
    this.#isCalledByCode = isCalledByCode
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
    // A precompile that needs more than the message's bound has exceeded it, so it need not run.
    const limit = lower(wasm.frameGas(), wasm.gasBoundLeft())
    const price = this.#run.env.params.precompilePrices?.[number] ?? undefined
    const own = price === undefined ? limit : gasForWork(price, limit)
    const least = this.#isCalledByCode ? (LEAST_GAS[number] ?? 0n) : 0n
    if (own === undefined || own < least) return this.#finish(limit, NOT_PAID)
    // Copied: the module's memory may grow, and move, while the precompile waits.
    const data = machine.copy(wasm.inputAt(), wasm.inputSize())
    const settle = (done: PrecompileResult): number =>
      this.#finish(
        limit,
        price === undefined || done.failure !== undefined
          ? done
          : { ...done, gasUsed: wholePrice(price, done.gasUsed) },
      )
    const result = QUICK[this.#run.rules.fork][number]?.(data, own) ?? this.#runHosted(number, data, own)
    return result instanceof Promise ? result.then(settle) : settle(result)
  }

  #runHosted(number: number, data: Uint8Array, limit: bigint): PrecompileResult | Promise<PrecompileResult> {
    const run = (host: Host) => host.runPrecompile(this.#run.env, number, data, limit, this.#check)
    if (precompileHost !== undefined) return run(precompileHost)
    return import('./precompile-host.ts').then(host => {
      precompileHost = host
      return run(host)
    })
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
    if (failure !== undefined) this.#run.steps?.precompileFailed(failure)
    machine.bytes.set(output, machine.wasm.returnedAt())
    const status = machine.wasm.precompiled(failure === undefined, gas - gasUsed, output.byteLength)
    return status === STATUS.done ? STATUS.done : STATUS.goesOn
  }
}

const lower = (gas: bigint, bound: bigint): bigint => (bound < 0n ? 0n : bound < gas ? bound : gas)
