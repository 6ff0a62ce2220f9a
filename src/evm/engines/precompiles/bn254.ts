import { EVMError, type ExecResult } from '@ethereumjs/evm'
import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { isCoded } from '@tandem/base/errors.ts'
import {
  ADD_BYTES,
  type Bn254Error,
  bn254Add,
  bn254Multiply,
  bn254Pairing,
  MULTIPLY_BYTES,
  PAIR_BYTES,
} from '../../../crypto/wasm/bn254.ts'
import { failedResult, inputSlice, outOfGasResult, type Precompile, runPaced } from './precompile.ts'

/* EIP-196 and EIP-197, priced by EIP-1108. */

const REASONS: Readonly<Record<Bn254Error['code'], EVMError['error']>> = {
  NOT_A_POINT: EVMError.errorMessages.REVERT,
  NOT_IN_FIELD: EVMError.errorMessages.BN254_FP_NOT_IN_FIELD,
}

const badInput = (gasLimit: bigint, error: unknown): ExecResult => {
  if (!isCoded(error) || !(error.code in REASONS)) throw error
  return failedResult(gasLimit, REASONS[error.code as Bn254Error['code']])
}

/** Reads points from the first bytes of the input, padded with zeros. */
const pointPrecompile =
  (price: string, size: number, compute: (bytes: Uint8Array) => Uint8Array): Precompile =>
  ({ data, gasLimit, common }) => {
    const gas = common.param(price)
    if (gas > gasLimit) return outOfGasResult(gasLimit)
    try {
      return { returnValue: compute(inputSlice(data, 0n, BigInt(size))), executionGasUsed: gas }
    } catch (error) {
      return badInput(gasLimit, error)
    }
  }

export const addPoints = pointPrecompile('bn254AddGas', ADD_BYTES, bn254Add)
export const multiplyPoint = pointPrecompile('bn254MulGas', MULTIPLY_BYTES, bn254Multiply)

function* pair(data: Uint8Array, gas: bigint, gasLimit: bigint): SlicedWork<ExecResult> {
  try {
    const returnValue = new Uint8Array(32)
    returnValue[31] = (yield* bn254Pairing(data)) ? 1 : 0
    return { returnValue, executionGasUsed: gas }
  } catch (error) {
    return badInput(gasLimit, error)
  }
}

export const pairing: Precompile = input => {
  const { data, gasLimit, common } = input
  if (data.byteLength % PAIR_BYTES !== 0) return failedResult(gasLimit, EVMError.errorMessages.INVALID_INPUT_LENGTH)
  const pairs = BigInt(data.byteLength / PAIR_BYTES)
  const gas = common.param('bn254PairingGas') + pairs * common.param('bn254PairingWordGas')
  return gas > gasLimit ? outOfGasResult(gasLimit) : runPaced(input, pair(data, gas, gasLimit))
}
