import { andThen, type MaybePromise } from '@tandem/base/async/maybe-promise.ts'
import { type Hex, toQuantity, toWord } from '@tandem/base/bytes.ts'
import { blobParamsAt, EVM_FORKS, evmForkAt, forkHeight, isActive, isEvmFork } from '../../../config/forks.ts'
import { type ChainParams, NETWORKS, type NetworkParams, type RewardParams } from '../../../config/networks.ts'
import { periodOf, rewardOfPeriod } from '../../../rules/money/rewards.ts'
import { codeSizeLimit, initCodeSizeLimit } from '../../../rules/transaction.ts'
import { block, blockNumber } from '../../codecs/block.ts'
import { ADDRESS_SCHEMA, address, BOOLEAN_SCHEMA, full, HASH_SCHEMA, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { BLOCK_SCHEMA, INTEGER_SCHEMA, NUMBER_SCHEMA, objectOf, orNull, STRING_SCHEMA } from '../../codecs/schemas.ts'
import { blockNumberOf, isHash, readState } from '../../router/block-reads.ts'
import type { Context } from '../../router/context.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { optional } from '../../router/method-description.ts'
import type { JsonSchema, RawJson, StreamedJson } from '../../router/raw-json.ts'
import { blockByNumberRef, ethBlocks } from '../eth/blocks.ts'
import { ethChain } from '../eth/chain.ts'

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

/** Schema and value of a rule by its name and type: percents are numbers, targets words, other bigints QUANTITY. */
const flatParam = (name: string, value: unknown): FlatParam => {
  if (typeof value === 'boolean') return [BOOLEAN_SCHEMA, value]
  if (typeof value === 'number') return integer(value)
  if (typeof value !== 'bigint') return text(String(value))
  if (name.endsWith('Percent')) return integer(value)
  return name.startsWith('maxTarget') ? word(value) : wei(value)
}

/** Rules of a group under `group.name`, without the unit. */
const flatGroup = (group: string, rules: object): Record<string, FlatParam> =>
  Object.fromEntries(
    Object.entries(rules).map(([name, value]) => [`${group}.${name.replace(/Wei$/, '')}`, flatParam(name, value)]),
  )

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

const DECIMALS = 18

const rulesAt = (params: NetworkParams, number: number): Readonly<Record<string, FlatParam>> => ({
  network: text(params.name),
  symbol: text(params.symbol),
  decimals: integer(DECIMALS),
  chainId: integer(params.chainId),
  networkId: integer(params.networkId),
  blockTimeMs: integer(params.blockTimeMs),
  ...execution(params, number),
  ...flatGroup('baseFee', params.baseFee),
  ...flatGroup('feeShares', params.feeShares),
  tips: text(params.tips),
  ...rewardRules(params.rewards, number),
  committeeSize: integer(params.committeeSize),
  minStake: wei(params.minStakeWei),
  ...flatGroup('council', params.council),
  roundTimeoutMs: integer(params.roundTimeoutMs),
  ...flatGroup('proofChain', params.proofChain),
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
const flatParamsSchema = (example: NetworkParams): JsonSchema =>
  objectOf('Params', {
    ...Object.fromEntries(Object.entries(rulesAt(example, 0)).map(([name, [schema]]) => [name, schema])),
    foundation: ADDRESS_SCHEMA,
    forks: { type: 'object', additionalProperties: orNull(INTEGER_SCHEMA) },
  })

/** Result of docs/interface.md#chain-configuration; the algorithm is that after `proofHeight` (docs/design/proof-chain.md#fork-height). */
const chainConfig = (params: ChainParams, proofHeight: number): object => ({
  chainId: params.chainId,
  nativeHashForkBlock: forkHeight(params.forks, 'nativeHash') ?? Number.MAX_SAFE_INTEGER,
  blockTime: params.blockTimeMs / 1_000,
  consensus: 'PBFT',
  proofChain: {
    algorithm: isActive(params.forks, 'nativeHash', proofHeight + 1)
      ? params.proofChain.after
      : params.proofChain.before,
  },
})

/** Every known fork with its height and whether it is active: those of the proof chain by proof height, the others by block number. */
const forkStatus = (params: ChainParams, number: number, proofHeight: number): object => {
  const current = EVM_FORKS.indexOf(evmForkAt(params.forks, number))
  return Object.fromEntries(
    params.forks.map(({ name, height }) => {
      const active = isEvmFork(name) ? EVM_FORKS.indexOf(name) <= current : isActive(params.forks, name, proofHeight)
      return [name, { height, active }]
    }),
  )
}

/** Height of the newest proof header; 0, the genesis, without a proof chain. */
const proofHeight = ({ proofChain }: Context): number => proofChain?.height() ?? 0

/** Chain and node methods of the network's own namespace (docs/interface.md#native-methods); methods.ts holds the aliases of eth. */
export const nativeChain = {
  native_clientVersion: method({
    summary: 'Name, version, platform and runtime of the node',
    result: STRING_SCHEMA,
    handler: ({ info }) => info.clientVersion,
  }),
  native_protocolVersion: method({
    summary: 'Version of the peer protocol',
    result: QUANTITY_SCHEMA,
    handler: ({ info }) => toQuantity(info.protocolVersion),
  }),
  native_nodeAddress: { ...ethChain.eth_coinbase, notes: 'Same as eth_coinbase.' },
  native_chainID: { ...ethChain.eth_chainId },
  native_getBlockNumber: { ...ethChain.eth_blockNumber },
  native_getBlock: method({
    summary: 'A block by number, tag or hash',
    params: [block, full],
    result: orNull(BLOCK_SCHEMA),
    handler: (context, ref, full): MaybePromise<RawJson | StreamedJson> =>
      isHash(ref) ? context.responseCache.blockByHash(ref, full) : blockByNumberRef(context, ref as number, full),
  }),
  native_getBlockTransactionCount: { ...ethBlocks.eth_getBlockTransactionCountByNumber, params: [block] },
  native_isContractAccount: method({
    summary: 'Whether an address has code',
    params: [address, block],
    result: BOOLEAN_SCHEMA,
    handler: ({ view }, who, at) => readState(view, at, state => andThen(state.code(who), code => code.byteLength > 0)),
  }),
  native_getChainConfig: method({
    summary: 'Configuration of the chain',
    result: objectOf('ChainConfig', {
      chainId: INTEGER_SCHEMA,
      nativeHashForkBlock: INTEGER_SCHEMA,
      blockTime: NUMBER_SCHEMA,
      consensus: STRING_SCHEMA,
      proofChain: objectOf('ProofChain', { algorithm: STRING_SCHEMA }),
    }),
    notes:
      '`nativeHashForkBlock` is a height of the proof chain, `blockTime` seconds, `algorithm` that of the next proof header.',
    handler: context => chainConfig(context.view.params, proofHeight(context)),
  }),
  native_getParams: method({
    summary: 'All rules of the chain at a block as one flat object',
    params: [optional(blockNumber)],
    result: flatParamsSchema(NETWORKS.mainnet),
    notes:
      'Without a block: the latest. `evmFork`, `maxBlobs` and `rewards.cycleReward` change with the block; `forks` has the heights of all forks.',
    handler: ({ view }, ref = 'latest') =>
      andThen(blockNumberOf(view, ref), number => flatParams(view.params, view.foundation, number)),
  }),
  native_forkStatus: method({
    summary: 'Known forks, their heights, and whether they are in force at a block',
    params: [optional(blockNumber)],
    result: {
      type: 'object',
      additionalProperties: objectOf('Fork', { height: orNull(INTEGER_SCHEMA), active: BOOLEAN_SCHEMA }),
    },
    handler: (context, ref = 'latest') =>
      andThen(blockNumberOf(context.view, ref), number =>
        forkStatus(context.view.params, number, proofHeight(context)),
      ),
  }),
} satisfies MethodTable
