import { type BlobParams, EVM_FORKS, type EvmFork, type Fork } from '../src/config/forks.ts'
import { type ChainParams, ethereumBaseFee } from '../src/config/networks.ts'

/** Every EVM fork up to this one, active from block 0. */
export const forksAtGenesis = (last: EvmFork): readonly Fork[] =>
  EVM_FORKS.slice(1, EVM_FORKS.indexOf(last) + 1).map(name => ({ name, height: 0 }))

/** Ethereum's gas in place of a network's: prices of calldata and precompiles, bounds on transactions, base fee. */
export const ethereumGas = (
  blockGasLimit: bigint,
): Pick<
  ChainParams,
  'blockGasLimit' | 'maxTxExecutionGas' | 'calldataGasPerByte' | 'precompilePrices' | 'baseFee'
> => ({
  blockGasLimit,
  maxTxExecutionGas: null,
  calldataGasPerByte: null,
  precompilePrices: null,
  baseFee: ethereumBaseFee(blockGasLimit),
})

/** Ethereum's own values (EIP-4844, 7691, 7892), for a genesis that sets none. */
export const ETHEREUM_BLOBS = {
  cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477n },
  prague: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716n },
  osaka: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716n },
  bpo1: { target: 10, max: 15, baseFeeUpdateFraction: 8_346_193n },
  bpo2: { target: 14, max: 21, baseFeeUpdateFraction: 11_684_671n },
} as const satisfies Readonly<Record<string, BlobParams>>
