import { EVMError, type ExecResult, type PrecompileInput } from '@ethereumjs/evm'
import { runSlicedWork, type SlicedWork } from '../../../util/async/sliced-work.ts'
import { EMPTY_BYTES } from '../../../util/bytes.ts'

/** A precompile as EthereumJS calls it. */
export type Precompile = (input: PrecompileInput) => ExecResult | Promise<ExecResult>

/** What a precompile needs of the EVM that calls it: when to give way (`StepClock`). */
interface Paced {
  readonly clock: { check(): Promise<void> | undefined }
}

/** All gas gone. */
export const failedResult = (gasLimit: bigint, error: EVMError['error']): ExecResult => ({
  returnValue: EMPTY_BYTES,
  executionGasUsed: gasLimit,
  exceptionError: new EVMError(error),
})

export const outOfGasResult = (gasLimit: bigint): ExecResult =>
  failedResult(gasLimit, EVMError.errorMessages.OUT_OF_GAS)

/** Bytes from..from + size of the input, which goes on in zeros. */
export const inputSlice = (data: Uint8Array, from: bigint, size: bigint): Uint8Array => {
  const given = from >= data.byteLength ? EMPTY_BYTES : data.subarray(Number(from), Number(from + size))
  if (given.byteLength === Number(size)) return given
  const padded = new Uint8Array(Number(size))
  padded.set(given)
  return padded
}

/** For a precompile whose work has no parts: a promise when the slice of the event loop is over. */
export const yieldIfDue = ({ _EVM }: PrecompileInput): Promise<void> | undefined =>
  (_EVM as unknown as Paced).clock.check()

/** Does a precompile's work between the turns of the event loop; no promise where it is done within its slice. */
export const runPaced = <Result>(input: PrecompileInput, slicedWork: SlicedWork<Result>): Result | Promise<Result> =>
  runSlicedWork(slicedWork, () => yieldIfDue(input))

/** The result of a paced computation that cannot fail any more. */
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
