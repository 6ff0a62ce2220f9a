import { EMPTY_BYTES, type Hex, toWord, ZERO_HASH } from '@tandem/base/bytes.ts'
import { assembleExtraData, assembleHeader } from '../../src/chain/block/header-assembly.ts'
import type { BlockStore } from '../../src/chain/store/block-store.ts'
import type { ChainRules } from '../../src/chain/store/rules-port.ts'
import { blobParamsAt, evmForkAt, isActive, isForkSince } from '../../src/config/forks.ts'
import type { NetworkParams } from '../../src/config/networks.ts'
import type { BeaconEnv, BlobEnv, BlockEnv } from '../../src/evm/block-env.ts'
import { blockFromParts } from '../../src/primitives/block.ts'
import type { Header } from '../../src/primitives/header.ts'
import type { ReceiptPrices } from '../../src/primitives/receipt/receipt.ts'
import { nextBaseFee } from '../../src/rules/money/base-fee.ts'
import { blobBaseFee, blobGasUsed } from '../../src/rules/money/blob-fee.ts'
import { nextExcessBlobGas } from '../ethereum-params.ts'
import { requestsHash, withdrawalsRoot } from './ethereum-roots.ts'

interface EthereumRulesOptions {
  readonly params: NetworkParams
  readonly depositContract: Hex
  readonly blocks: Pick<BlockStore, 'hashOf'>
}

/** Header members visible to transactions. */
type SeenHeader = Pick<
  Header,
  | 'number'
  | 'timestamp'
  | 'gasLimit'
  | 'miner'
  | 'mixHash'
  | 'parentHash'
  | 'difficulty'
  | 'baseFeePerGas'
  | 'parentBeaconBlockRoot'
  | 'excessBlobGas'
>

/** Rules of a recorded Ethereum chain. Its miner takes the place of the proposer, and its extra data has no meaning. */
export const ethereumRules = (options: EthereumRulesOptions): ChainRules => {
  const { params } = options
  const envOf = (header: SeenHeader, hash?: Hex): BlockEnv => blockEnv(options, header, hash)
  return {
    extraOf: ({ miner }) => assembleExtraData(miner, null),
    pricesOf: header => pricesOf(params, header),
    committedEnv: ({ header, hash }) => envOf(header, hash),
    childEnv: ({ header, hash }, { timestamp, proposer }) =>
      envOf({
        number: header.number + 1,
        timestamp,
        gasLimit: header.gasLimit,
        miner: proposer,
        mixHash: ZERO_HASH,
        parentHash: hash,
        difficulty: 0n,
        baseFeePerGas: nextBaseFee(header, params.baseFee),
        parentBeaconBlockRoot: ZERO_HASH,
        excessBlobGas: excessBlobGasAfter(params, header),
      }),
    assemble(env, parent, extra, execution, blockRoots) {
      const fork = evmForkAt(params.forks, env.number)
      const withdrawals = isForkSince(fork, 'shanghai') ? [] : undefined
      const { baseFeePerGas, ...common } = assembleHeader(env, parent, extra, execution, blockRoots)
      const header: Header = {
        ...common,
        difficulty: 0n,
        extraData: EMPTY_BYTES,
        mixHash: env.prevRandao,
        ...(isForkSince(fork, 'london') && baseFeePerGas !== undefined && { baseFeePerGas }),
        ...(withdrawals && { withdrawalsRoot: withdrawalsRoot(withdrawals) }),
        ...(isForkSince(fork, 'cancun') && {
          blobGasUsed: blobGasUsed(execution.transactions),
          excessBlobGas: excessBlobGasAfter(params, parent.header),
        }),
        ...(env.beacon?.parentRoot !== undefined && { parentBeaconBlockRoot: env.beacon.parentRoot }),
        ...(execution.requests && { requestsHash: requestsHash(execution.requests) }),
      }
      const totalDifficulty = parent.ethereum?.totalDifficulty ?? 0n
      const { transactions } = execution
      return blockFromParts(header, {
        transactions,
        proofHeaders: [],
        evidence: [],
        ethereum: { uncles: [], withdrawals, totalDifficulty },
      })
    },
  }
}

/** Excess blob gas of the block after a header; 0n for the first block that counts it. */
export const excessBlobGasAfter = (params: NetworkParams, parent: Header): bigint => {
  const number = parent.number + 1
  const blobParams = blobParamsAt(params.blobForks, number)
  return blobParams === undefined ? 0n : nextExcessBlobGas(parent, blobParams, isActive(params.forks, 'osaka', number))
}

const pricesOf = (params: NetworkParams, header: Header): ReceiptPrices => {
  const blobs = blobEnv(params, header)
  return {
    baseFeePerGas: header.baseFeePerGas ?? 0n,
    ...(blobs && { blobGasPrice: blobs.baseFeePerGas }),
  }
}

const blobEnv = (
  { blobForks }: Pick<NetworkParams, 'blobForks'>,
  { number, excessBlobGas = 0n }: SeenHeader,
): BlobEnv | undefined => {
  const blobParams = blobParamsAt(blobForks, number)
  return blobParams && { baseFeePerGas: blobBaseFee(excessBlobGas, blobParams), maxPerBlock: blobParams.max }
}

const blockEnv = (
  { params, depositContract, blocks }: EthereumRulesOptions,
  header: SeenHeader,
  hash: Hex | undefined,
): BlockEnv => {
  const { number, timestamp, gasLimit, miner, parentHash } = header
  const fork = evmForkAt(params.forks, number)
  const beacon: BeaconEnv | undefined = isForkSince(fork, 'cancun')
    ? { parentRoot: header.parentBeaconBlockRoot, depositContract }
    : undefined
  const blobs = blobEnv(params, header)
  return {
    params,
    number,
    timestamp,
    gasLimit,
    baseFeePerGas: header.baseFeePerGas ?? 0n,
    miner,
    proposerReward: miner,
    foundation: miner,
    prevRandao: isForkSince(fork, 'paris') ? header.mixHash : toWord(header.difficulty),
    ...(beacon && { beacon }),
    ...(blobs && { blobs }),
    blockHash(wanted) {
      if (wanted >= number - 1) return [parentHash, hash][wanted - number + 1] ?? ZERO_HASH
      return blocks.hashOf(wanted) ?? ZERO_HASH
    },
  }
}
