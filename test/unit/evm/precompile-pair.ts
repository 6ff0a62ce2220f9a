import type { Common } from '@ethereumjs/common'
import {
  type ExecResult,
  getActivePrecompiles,
  NobleBLS,
  NobleBN254,
  type PrecompileInput,
  paramsEVM,
} from '@ethereumjs/evm'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import type { EvmFork } from '../../../src/config/forks.ts'
import { NETWORKS } from '../../../src/config/networks.ts'
import { createCommon } from '../../../src/evm/engines/ethereumjs/common.ts'
import { precompileTable } from '../../../src/evm/engines/precompiles/table.ts'

/** Part of a result that callers see; of an error, its text. */
export interface Outcome {
  readonly gas: bigint
  readonly output: Hex
  readonly error: string | undefined
}

const outcomeOf = ({ executionGasUsed, returnValue, exceptionError }: ExecResult): Outcome => ({
  gas: executionGasUsed,
  output: bytesToHex(returnValue),
  error: exceptionError?.error,
})

const evm = { _bn254: new NobleBN254(), _bls: new NobleBLS(), clock: { check: () => undefined } }

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

/** The addresses where a fork has a precompile of our own. */
export const ownNumbers = (fork: EvmFork): readonly number[] =>
  precompileTable(commonOf(fork)).map(({ address }) => Number(bytesToHex((address as { bytes: Uint8Array }).bytes)))

const call = async (common: Common, own: boolean, number: number, data: Uint8Array, gasLimit: bigint) => {
  const run = getActivePrecompiles(common, own ? precompileTable(common) : []).get(
    number.toString(16).padStart(40, '0'),
  )
  if (run === undefined) throw new Error(`no precompile ${number}`)
  return outcomeOf(await run({ data, gasLimit, common, _EVM: evm } as unknown as PrecompileInput))
}

/** One input given to our precompile and to EthereumJS' own. */
export const bothWays = async (
  fork: EvmFork,
  number: number,
  data: Uint8Array,
  gasLimit = 10n ** 12n,
): Promise<{ ours: Outcome; theirs: Outcome }> => {
  const common = commonOf(fork)
  return {
    ours: await call(common, true, number, data, gasLimit),
    theirs: await call(common, false, number, data, gasLimit),
  }
}
