import { EVMError } from '@ethereumjs/evm'
import { BLAKE2_INPUT_BYTES, blake2Compress } from '../../../crypto/wasm/blake2.ts'
import { failedResult, outOfGasResult, type Precompile, runPacedResult } from './precompile.ts'

/**
 * EIP-152. A round costs one gas: at EthereumJS' microsecond per round one transaction could hold the thread for minutes.
 */
export const blake2f: Precompile = input => {
  const { data, gasLimit, common } = input
  const last = data[BLAKE2_INPUT_BYTES - 1]
  if (data.byteLength !== BLAKE2_INPUT_BYTES || (last !== 0 && last !== 1))
    return failedResult(gasLimit, EVMError.errorMessages.OUT_OF_RANGE)
  const rounds = new DataView(data.buffer, data.byteOffset).getUint32(0)
  const gas = common.param('blake2RoundGas') * BigInt(rounds)
  return gas > gasLimit ? outOfGasResult(gasLimit) : runPacedResult(input, gas, blake2Compress(data, rounds))
}
