import type { EngineEnv } from '../../block-env.ts'
import { commonAt } from '../ethereumjs/common.ts'
import type { Precompile } from '../precompiles/precompile.ts'
import { pacedInput } from '../precompiles/precompile-input.ts'
import { activePrecompiles } from '../precompiles/table.ts'

/*
 * Precompiles for the WebAssembly engine: this project's own, and EthereumJS' for the others. Loaded at the first call.
 */

export interface PrecompileResult {
  readonly output: Uint8Array
  readonly gasUsed: bigint
  /** Reason of a failure, which has used all gas. */
  readonly failure: string | undefined
}

/** Runs one at its fork's own price; `check` returns a promise when it is time to yield. */
export const runPrecompile = (
  env: EngineEnv,
  number: number,
  data: Uint8Array,
  gasLimit: bigint,
  check: () => Promise<void> | undefined,
): PrecompileResult | Promise<PrecompileResult> => {
  const common = commonAt(env.params, env.number)
  const run = activePrecompiles(common).get(number) as Precompile
  const result = run({ data, gasLimit, common, ...pacedInput({ check }) })
  return result instanceof Promise ? result.then(resultOf) : resultOf(result)
}

const resultOf = ({
  returnValue,
  executionGasUsed,
  exceptionError,
}: Awaited<ReturnType<Precompile>>): PrecompileResult => ({
  output: returnValue,
  gasUsed: executionGasUsed,
  failure: exceptionError?.error,
})
