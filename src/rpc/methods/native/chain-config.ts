import { EVM_FORKS, evmForkAt, isActive } from '../../../config/forks.ts'
import type { ChainParams } from '../../../config/networks.ts'
import { toQuantity } from '../../../util/bytes.ts'
import { QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { INTEGER_SCHEMA, NUMBER_SCHEMA, objectOf, orNull } from '../../schemas.ts'

/** Height of the fork of the proof chain's hash; null on networks without it. */
const nativeHashHeight = (params: ChainParams): number | null =>
  params.forks.find(({ name }) => name === 'nativeHash')?.height ?? null

/**
 * Result of docs/interface.md#chain-configuration; `proofHeight` is the height of the newest proof header, and the algorithm is that of
 * the next one (docs/design/proof-chain.md#fork-height).
 */
export const chainConfig = (params: ChainParams, proofHeight: number): object => ({
  chainId: params.chainId,
  nativeHashForkBlock: nativeHashHeight(params) ?? Number.MAX_SAFE_INTEGER,
  blockTime: params.blockTimeMs / 1_000,
  consensus: 'PBFT',
  proofChain: {
    algorithm: isActive(params.forks, 'nativeHash', proofHeight + 1)
      ? params.proofChain.after
      : params.proofChain.before,
  },
})

/** Every known fork with its height and whether it is active: `nativeHash` by proof height, the others by block number. */
export const forkStatus = (params: ChainParams, number: number, proofHeight: number): object => {
  const current = EVM_FORKS.indexOf(evmForkAt(params.forks, number))
  return Object.fromEntries(
    params.forks.map(({ name, height }) => {
      const active =
        name === 'nativeHash' ? isActive(params.forks, name, proofHeight) : EVM_FORKS.indexOf(name) <= current
      return [name, { height, active }]
    }),
  )
}

/** Chain rules as one flat object: wei and gas as QUANTITY, the rest as numbers and strings. */
export const flatParams = (params: ChainParams): Record<string, unknown> => ({
  chainId: params.chainId,
  networkId: params.networkId,
  blockTimeMs: params.blockTimeMs,
  blockGasLimit: toQuantity(params.blockGasLimit),
  maxTxExecutionGas: toQuantity(params.maxTxExecutionGas),
  maxBlockExecutionGas: toQuantity(params.maxBlockExecutionGas),
  calldataGasPerByte: params.calldataGasPerByte === null ? null : toQuantity(params.calldataGasPerByte),
  'baseFee.lowerBound': toQuantity(params.baseFee.lowerBoundWei),
  'baseFee.upperBound': toQuantity(params.baseFee.upperBoundWei),
  'baseFee.gasTarget': toQuantity(params.baseFee.gasTarget),
  'baseFee.maxBlockGasUsed': toQuantity(params.baseFee.maxBlockGasUsed),
  'baseFee.denominator': toQuantity(params.baseFee.denominator),
  'feeShares.proposerPercent': Number(params.feeShares.proposerPercent),
  'feeShares.minerPercent': Number(params.feeShares.minerPercent),
  'feeShares.foundationPercent': Number(params.feeShares.foundationPercent),
  'rewards.cycleBlocks': params.rewards.cycleBlocks,
  'rewards.cycleReward': toQuantity(params.rewards.cycleRewardWei),
  'rewards.halvingRatio': Number(params.rewards.halvingNumerator) / Number(params.rewards.halvingDenominator),
  'rewards.halvingBlocks': params.rewards.halvingBlocks,
  'rewards.minersPercent': Number(params.rewards.minersPercent),
  'rewards.unionPercent': Number(params.rewards.unionPercent),
  committeeSize: params.committeeSize,
  minStake: toQuantity(params.minStakeWei),
  roundTimeoutMs: params.roundTimeoutMs,
})

export const FLAT_PARAMS_SCHEMA = objectOf('Params', {
  chainId: INTEGER_SCHEMA,
  networkId: INTEGER_SCHEMA,
  blockTimeMs: INTEGER_SCHEMA,
  blockGasLimit: QUANTITY_SCHEMA,
  maxTxExecutionGas: QUANTITY_SCHEMA,
  maxBlockExecutionGas: QUANTITY_SCHEMA,
  calldataGasPerByte: orNull(QUANTITY_SCHEMA),
  'baseFee.lowerBound': QUANTITY_SCHEMA,
  'baseFee.upperBound': QUANTITY_SCHEMA,
  'baseFee.gasTarget': QUANTITY_SCHEMA,
  'baseFee.maxBlockGasUsed': QUANTITY_SCHEMA,
  'baseFee.denominator': QUANTITY_SCHEMA,
  'feeShares.proposerPercent': INTEGER_SCHEMA,
  'feeShares.minerPercent': INTEGER_SCHEMA,
  'feeShares.foundationPercent': INTEGER_SCHEMA,
  'rewards.cycleBlocks': INTEGER_SCHEMA,
  'rewards.cycleReward': QUANTITY_SCHEMA,
  'rewards.halvingRatio': NUMBER_SCHEMA,
  'rewards.halvingBlocks': INTEGER_SCHEMA,
  'rewards.minersPercent': INTEGER_SCHEMA,
  'rewards.unionPercent': INTEGER_SCHEMA,
  committeeSize: INTEGER_SCHEMA,
  minStake: QUANTITY_SCHEMA,
  roundTimeoutMs: INTEGER_SCHEMA,
})
