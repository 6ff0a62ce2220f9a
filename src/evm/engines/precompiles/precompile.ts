import { EVMError, type ExecResult, type PrecompileInput } from '@ethereumjs/evm'
import { EMPTY_BYTES } from '../../../util/bytes.ts'
import { runWork, type Work } from '../../../util/work.ts'

/** A precompile as EthereumJS calls it. */
export type Precompile = (input: PrecompileInput) => ExecResult | Promise<ExecResult>

/** What a precompile needs of the EVM that calls it: when to give way (`StepClock`). */
interface Paced {
  readonly clock: { check(): Promise<void> | undefined }
}

/** All gas gone. */
export const failed = (gasLimit: bigint, error: EVMError['error']): ExecResult => ({
  returnValue: EMPTY_BYTES,
  executionGasUsed: gasLimit,
  exceptionError: new EVMError(error),
})

export const outOfGas = (gasLimit: bigint): ExecResult => failed(gasLimit, EVMError.errorMessages.OUT_OF_GAS)

/** Does a precompile's work between the turns of the event loop; no promise where it is done within its slice. */
export const pacedWork = <Result>(input: PrecompileInput, work: Work<Result>): Result | Promise<Result> => {
  const { clock } = input._EVM as unknown as Paced
  return runWork(work, () => clock.check())
}

/** The result of a paced computation that cannot fail any more. */
export const pacedResult = (
  input: PrecompileInput,
  gas: bigint,
  work: Work<Uint8Array>,
): ExecResult | Promise<ExecResult> => {
  const output = pacedWork(input, work)
  return output instanceof Promise
    ? output.then(returnValue => ({ returnValue, executionGasUsed: gas }))
    : { returnValue: output, executionGasUsed: gas }
}
