import { type BlobParams, EVM_FORKS, type EvmFork, type Fork, GAS_PER_BLOB } from '../src/config/forks.ts'
import { type ChainParams, ethereumBaseFee } from '../src/config/networks.ts'
import { blobBaseFee } from '../src/rules/money/blob-fee.ts'

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

/** Gas by which the execution price is weighed against the blob price (EIP-7918). */
const BLOB_BASE_COST = 8_192n

/** Parent header fields that determine the excess of its child; the parent of the first block with blobs has none. */
interface BlobParent {
  readonly excessBlobGas?: bigint | undefined
  readonly blobGasUsed?: bigint | undefined
  readonly baseFeePerGas?: bigint | undefined
}

/**
 * Excess blob gas of a block under these parameters (EIP-4844). `reserve`: from Osaka on a price far below that of execution does not
 * fall further (EIP-7918).
 */
export const nextExcessBlobGas = (parent: BlobParent, blobs: BlobParams, reserve: boolean): bigint => {
  const { excessBlobGas: excess = 0n, blobGasUsed: used = 0n, baseFeePerGas = 0n } = parent
  const target = BigInt(blobs.target) * GAS_PER_BLOB
  if (excess + used < target) return 0n
  const isCheap = BLOB_BASE_COST * baseFeePerGas > GAS_PER_BLOB * blobBaseFee(excess, blobs)
  if (reserve && isCheap) return excess + (used * BigInt(blobs.max - blobs.target)) / BigInt(blobs.max)
  return excess + used - target
}
