import { type Hex, toQuantity, toWord } from '@tandem/base/bytes.ts'
import { blobParamsAt, evmForkAt } from '../../../config/forks.ts'
import type {
  BaseFeeParams,
  ChainParams,
  CouncilParams,
  NetworkParams,
  RewardParams,
} from '../../../config/networks.ts'
import { codeSizeLimit, initCodeSizeLimit } from '../../../rules/code-size.ts'
import { periodOf, rewardOfPeriod } from '../../../rules/money/rewards.ts'
import { ADDRESS_SCHEMA, BOOLEAN_SCHEMA, HASH_SCHEMA, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { INTEGER_SCHEMA, NUMBER_SCHEMA, objectOf, orNull, STRING_SCHEMA } from '../../codecs/schemas.ts'
import type { JsonSchema } from '../../router/raw-json.ts'

/** Rule of the chain: its value at a block, with the schema of the value. */
type FlatParam = readonly [JsonSchema, unknown]

const wei = (amount: bigint): FlatParam => [QUANTITY_SCHEMA, toQuantity(amount)]
const weiOrForks = (amount: bigint | null): FlatParam => [
  orNull(QUANTITY_SCHEMA),
  amount === null ? null : toQuantity(amount),
]
const integer = (value: number | bigint): FlatParam => [INTEGER_SCHEMA, Number(value)]
const text = (value: string): FlatParam => [STRING_SCHEMA, value]
const word = (value: bigint): FlatParam => [HASH_SCHEMA, toWord(value) satisfies Hex]

/** Prices of precompiles that differ from the fork's own, by number; null: there is no such precompile, or all prices are the fork's. */
const precompilePrices = ({ precompilePrices: prices }: ChainParams): FlatParam => {
  const price = orNull(objectOf('PrecompilePrice', { times: QUANTITY_SCHEMA, plus: QUANTITY_SCHEMA }))
  const entries = Object.entries(prices ?? {}).map(([number, of]) => [
    toQuantity(Number(number)),
    of && { times: toQuantity(of.times), plus: toQuantity(of.plus) },
  ])
  const schema = orNull({ type: 'object', additionalProperties: price })
  return [schema, prices === null ? null : Object.fromEntries(entries)]
}

const execution = (params: ChainParams, number: number) => ({
  evmFork: text(evmForkAt(params.forks, number)),
  blockGasLimit: wei(params.blockGasLimit),
  maxTxExecutionGas: weiOrForks(params.maxTxExecutionGas),
  maxBlockExecutionGas: wei(params.maxBlockExecutionGas),
  calldataGasPerByte: weiOrForks(params.calldataGasPerByte),
  precompilePrices: precompilePrices(params),
  codeSizeLimit: integer(codeSizeLimit(params)),
  initCodeSizeLimit: integer(initCodeSizeLimit(params)),
  maxBlobs: integer(blobParamsAt(params.blobForks, number)?.max ?? 0),
})

const fees = ({ baseFee, feeShares, tips }: ChainParams) => ({
  'baseFee.rule': text(baseFee.rule satisfies BaseFeeParams['rule']),
  'baseFee.lowerBound': wei(baseFee.lowerBoundWei),
  'baseFee.upperBound': wei(baseFee.upperBoundWei),
  'baseFee.gasTarget': wei(baseFee.gasTarget),
  'baseFee.maxBlockGasUsed': wei(baseFee.maxBlockGasUsed),
  'baseFee.denominator': wei(baseFee.denominator),
  'feeShares.proposerPercent': integer(feeShares.proposerPercent),
  'feeShares.minerPercent': integer(feeShares.minerPercent),
  'feeShares.foundationPercent': integer(feeShares.foundationPercent),
  tips: text(tips),
})

const rewardRules = (rewards: RewardParams, number: number) => ({
  'rewards.cycleBlocks': integer(rewards.cycleBlocks),
  'rewards.cycleReward': wei(rewardOfPeriod(periodOf(number, rewards), rewards)),
  'rewards.halvingRatio': [
    NUMBER_SCHEMA,
    Number(rewards.halvingNumerator) / Number(rewards.halvingDenominator),
  ] as FlatParam,
  'rewards.halvingBlocks': integer(rewards.halvingBlocks),
  'rewards.minersPercent': integer(rewards.minersPercent),
  'rewards.unionPercent': integer(rewards.unionPercent),
})

const councilRules = (council: CouncilParams) => ({
  'council.openRegistration': [BOOLEAN_SCHEMA, council.openRegistration] as FlatParam,
  'council.unbondingSeconds': integer(council.unbondingSeconds),
  'council.inactiveBlocks': integer(council.inactiveBlocks),
  'council.evidenceBlocks': integer(council.evidenceBlocks),
})

const proofRules = ({ proofChain }: ChainParams) => ({
  'proofChain.before': text(proofChain.before),
  'proofChain.after': text(proofChain.after),
  'proofChain.spacingBlocks': integer(proofChain.spacingBlocks),
  'proofChain.halfLifeBlocks': integer(proofChain.halfLifeBlocks),
  'proofChain.maxAnchorAgeBlocks': integer(proofChain.maxAnchorAgeBlocks),
  'proofChain.maxTargetBefore': word(proofChain.maxTargetBefore),
  'proofChain.maxTargetAfter': word(proofChain.maxTargetAfter),
})

const DECIMALS = 18

const rulesAt = (params: NetworkParams, number: number): Readonly<Record<string, FlatParam>> => ({
  network: text(params.name),
  symbol: text(params.symbol),
  decimals: integer(DECIMALS),
  chainId: integer(params.chainId),
  networkId: integer(params.networkId),
  blockTimeMs: integer(params.blockTimeMs),
  ...execution(params, number),
  ...fees(params),
  ...rewardRules(params.rewards, number),
  committeeSize: integer(params.committeeSize),
  minStake: wei(params.minStakeWei),
  ...councilRules(params.council),
  roundTimeoutMs: integer(params.roundTimeoutMs),
  ...proofRules(params),
  devHelpers: [BOOLEAN_SCHEMA, params.devHelpers],
})

const forkHeights = ({ forks }: ChainParams) => Object.fromEntries(forks.map(({ name, height }) => [name, height]))

/**
 * Rules of the chain in force at a block, as one flat object: wei and gas as QUANTITY, targets as words, the rest as numbers and strings.
 * `foundation` is its address, `forks` holds the heights of all forks.
 */
export const flatParams = (params: NetworkParams, foundation: Hex, number: number): Record<string, unknown> => ({
  ...Object.fromEntries(Object.entries(rulesAt(params, number)).map(([name, [, value]]) => [name, value])),
  foundation,
  forks: forkHeights(params),
})

/** Schema of `flatParams`; the schemas do not depend on the network. */
export const flatParamsSchema = (example: NetworkParams): JsonSchema =>
  objectOf('Params', {
    ...Object.fromEntries(Object.entries(rulesAt(example, 0)).map(([name, [schema]]) => [name, schema])),
    foundation: ADDRESS_SCHEMA,
    forks: { type: 'object', additionalProperties: orNull(INTEGER_SCHEMA) },
  })
