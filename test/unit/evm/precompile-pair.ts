import type { Common } from '@ethereumjs/common'
import { getActivePrecompiles, NobleBLS, NobleBN254, type PrecompileInput, paramsEVM } from '@ethereumjs/evm'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import type { EvmFork } from '../../../src/config/forks.ts'
import { NETWORKS } from '../../../src/config/networks.ts'
import { createCommon } from '../../../src/evm/engines/ethereumjs/common.ts'
import { callPrecompile } from '../../../src/evm/engines/precompiles/precompile.ts'
import { PRECOMPILES } from '../../../src/evm/engines/precompiles/table.ts'

/** Part of a result that callers see; of an error, its text. */
export interface Outcome {
  readonly gas: bigint
  readonly output: Hex
  readonly error: string | undefined
}

const evm = { _bn254: new NobleBN254(), _bls: new NobleBLS() }

const commons = new Map<EvmFork, Common>()
const commonOf = (fork: EvmFork): Common => {
  let common = commons.get(fork)
  if (common === undefined) {
    common = createCommon(NETWORKS.devnet, fork)
    common.updateParams(paramsEVM)
    commons.set(fork, common)
  }
  return common
}

const digitsOf = (number: number): string => number.toString(16).padStart(40, '0')

/** The numbers of our precompiles that the library has at a fork. */
export const ownNumbers = (fork: EvmFork): readonly number[] => {
  const active = getActivePrecompiles(commonOf(fork))
  return [...PRECOMPILES.keys()].filter(number => active.has(digitsOf(number)))
}

const ours = async (fork: EvmFork, number: number, data: Uint8Array, gas: bigint): Promise<Outcome> => {
  const precompile = PRECOMPILES.get(number)
  if (precompile === undefined) throw new Error(`no precompile ${number}`)
  const call = { data, gas, fork, price: undefined, check: () => undefined }
  const { output, gasUsed, failure } = await callPrecompile(precompile, call)
  return { gas: gasUsed, output: bytesToHex(output), error: failure }
}

const theirs = async (fork: EvmFork, number: number, data: Uint8Array, gasLimit: bigint): Promise<Outcome> => {
  const common = commonOf(fork)
  const run = getActivePrecompiles(common).get(digitsOf(number))
  if (run === undefined) throw new Error(`no precompile ${number}`)
  const result = await run({ data, gasLimit, common, _EVM: evm } as unknown as PrecompileInput)
  const { executionGasUsed, returnValue, exceptionError } = result
  return { gas: executionGasUsed, output: bytesToHex(returnValue), error: exceptionError?.error }
}

/** One input given to our precompile and to EthereumJS' own. */
export const bothWays = async (
  fork: EvmFork,
  number: number,
  data: Uint8Array,
  gas = 10n ** 12n,
): Promise<{ ours: Outcome; theirs: Outcome }> => ({
  ours: await ours(fork, number, data, gas),
  theirs: await theirs(fork, number, data, gas),
})
