import { EVMError, type ExecResult, type PrecompileInput } from '@ethereumjs/evm'
import { runSlicedWork, type SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { clockOfInput } from './precompile-input.ts'

/** Precompile as EthereumJS calls it. */
export type Precompile = (input: PrecompileInput) => ExecResult | Promise<ExecResult>

/** Consumes all gas. */
export const failedResult = (gasLimit: bigint, error: EVMError['error']): ExecResult => ({
  returnValue: EMPTY_BYTES,
  executionGasUsed: gasLimit,
  exceptionError: new EVMError(error),
})

export const outOfGasResult = (gasLimit: bigint): ExecResult =>
  failedResult(gasLimit, EVMError.errorMessages.OUT_OF_GAS)

/** Returns bytes from..from + size of the input, padded with zeros. */
export const inputSlice = (data: Uint8Array, from: bigint, size: bigint): Uint8Array => {
  const given = from >= data.byteLength ? EMPTY_BYTES : data.subarray(Number(from), Number(from + size))
  if (given.byteLength === Number(size)) return given
  const padded = new Uint8Array(Number(size))
  padded.set(given)
  return padded
}

/** For a precompile without parts: returns a promise when the time slice is over. */
export const yieldIfDue = (input: PrecompileInput): Promise<void> | undefined => clockOfInput(input).check()

/** Runs a precompile's work in time slices; synchronous when it fits one slice. */
export const runPaced = <Result>(input: PrecompileInput, slicedWork: SlicedWork<Result>): Result | Promise<Result> =>
  runSlicedWork(slicedWork, () => yieldIfDue(input))

/** Returns the result of a paced computation that cannot fail any more. */
export const runPacedResult = (
  input: PrecompileInput,
  gas: bigint,
  slicedWork: SlicedWork<Uint8Array>,
): ExecResult | Promise<ExecResult> => {
  const output = runPaced(input, slicedWork)
  return output instanceof Promise
    ? output.then(returnValue => ({ returnValue, executionGasUsed: gas }))
    : { returnValue: output, executionGasUsed: gas }
}
