import { EVMError, type ExecResult, type PrecompileInput } from '@ethereumjs/evm'
import { runWork, type Work } from '../../../util/async/sliced-work.ts'
import { EMPTY_BYTES } from '../../../util/bytes.ts'

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

/** Bytes from..from + size of the input, which goes on in zeros. */
export const inputSlice = (data: Uint8Array, from: bigint, size: bigint): Uint8Array => {
  const given = from >= data.byteLength ? EMPTY_BYTES : data.subarray(Number(from), Number(from + size))
  if (given.byteLength === Number(size)) return given
  const padded = new Uint8Array(Number(size))
  padded.set(given)
  return padded
}

/** For a precompile whose work has no parts: a promise when the slice of the event loop is over. */
export const pauseIfDue = ({ _EVM }: PrecompileInput): Promise<void> | undefined =>
  (_EVM as unknown as Paced).clock.check()

/** Does a precompile's work between the turns of the event loop; no promise where it is done within its slice. */
export const pacedWork = <Result>(input: PrecompileInput, work: Work<Result>): Result | Promise<Result> =>
  runWork(work, () => pauseIfDue(input))

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
