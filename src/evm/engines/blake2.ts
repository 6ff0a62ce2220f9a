import type { Common } from '@ethereumjs/common'
import { EVMError, type ExecResult, type PrecompileInput } from '@ethereumjs/evm'
import { Address } from '@ethereumjs/util'
import { BLAKE2_INPUT_BYTES, blake2Compress } from '../../crypto/blake2.ts'
import { EMPTY_BYTES } from '../../util/bytes.ts'

/*
 * EIP-152 by our own module. A round costs one gas: EthereumJS' microsecond a round would let one transaction hold the thread for
 * minutes, and nothing can divide a precompile's work.
 */

const failed = (gasLimit: bigint, error: EVMError['error']): ExecResult => ({
  returnValue: EMPTY_BYTES,
  executionGasUsed: gasLimit,
  exceptionError: new EVMError(error),
})

const blake2f = ({ data, gasLimit, common }: PrecompileInput): ExecResult => {
  const last = data[BLAKE2_INPUT_BYTES - 1]
  if (data.byteLength !== BLAKE2_INPUT_BYTES || (last !== 0 && last !== 1))
    return failed(gasLimit, EVMError.errorMessages.OUT_OF_RANGE)
  const rounds = new DataView(data.buffer, data.byteOffset).getUint32(0)
  const gas = common.param('blake2RoundGas') * BigInt(rounds)
  if (gas > gasLimit) return failed(gasLimit, EVMError.errorMessages.OUT_OF_GAS)
  return { returnValue: blake2Compress(data, rounds), executionGasUsed: gas }
}

const ADDRESS = new Address(Uint8Array.from({ length: 20 }, (_, i) => (i === 19 ? 9 : 0)))

/** Precompiles that take the place of EthereumJS' own on a fork that has them. */
export const ownPrecompiles = (common: Common) =>
  common.gteHardfork('istanbul') ? [{ address: ADDRESS, function: blake2f }] : []
