import { FORK_NAMES, type Fork, forksWith, isEvmFork } from '../forks.ts'
import {
  type BaseFeeParams,
  type CouncilParams,
  ethereumBaseFee,
  type FeeShares,
  type NetworkParams,
  type ProofChainParams,
  type RewardParams,
} from '../networks.ts'
import { BLOCK_BOUNDS, CONSENSUS_BOUNDS } from '../protocol-bounds.ts'
import type { GenesisValue } from './json-reader.ts'

const MEMBERS = [
  'networkId',
  'forks',
  'blockTimeMs',
  'blockGasLimit',
  'maxTxExecutionGas',
  'maxBlockExecutionGas',
  'calldataGasPerByte',
  'precompilePrices',
  'codeSizeLimit',
  'baseFee',
  'feeShares',
  'rewards',
  'committeeSize',
  'minStakeWei',
  'council',
  'roundTimeoutMs',
  'proofChain',
  'devHelpers',
]
const MAX_GAS = 2n ** 63n - 1n
const MAX_MS = 24 * 3_600_000
const MAX_SECONDS = 10 * 366 * 86_400
const MAX_BLOCKS = 100_000_000

/** Returns the network's parameters with those a genesis file sets. Throws GENESIS_INVALID. */
export const readParams = (value: GenesisValue, base: NetworkParams): NetworkParams => {
  value.only(MEMBERS)
  const given = <Value>(key: string, read: (member: GenesisValue) => Value, otherwise: Value): Value => {
    const member = value.optional(key)
    return member === undefined ? otherwise : read(member)
  }
  const gas = (member: GenesisValue) => positive(member, MAX_GAS)
  const params: NetworkParams = {
    ...base,
    networkId: given('networkId', member => member.integer(1), base.networkId),
    forks: given('forks', member => readForks(member, base.forks), base.forks),
    blockTimeMs: given('blockTimeMs', member => member.integer(0, MAX_MS), base.blockTimeMs),
    blockGasLimit: given('blockGasLimit', gas, base.blockGasLimit),
    maxTxExecutionGas: given('maxTxExecutionGas', orForks(gas), base.maxTxExecutionGas),
    maxBlockExecutionGas: given('maxBlockExecutionGas', gas, base.maxBlockExecutionGas),
    calldataGasPerByte: given('calldataGasPerByte', orForks(byteGas), base.calldataGasPerByte),
    precompilePrices: given('precompilePrices', readOwnPrices, base.precompilePrices),
    ...optionally(value, 'codeSizeLimit', member => member.integer(1, BLOCK_BOUNDS.transactionBytes)),
    baseFee: base.baseFee,
    feeShares: given('feeShares', member => readFeeShares(member, base.feeShares), base.feeShares),
    rewards: given('rewards', member => readRewards(member, base.rewards), base.rewards),
    committeeSize: given('committeeSize', readCommitteeSize, base.committeeSize),
    minStakeWei: given('minStakeWei', member => member.amount(), base.minStakeWei),
    council: given('council', member => readCouncilParams(member, base.council), base.council),
    roundTimeoutMs: given('roundTimeoutMs', member => member.integer(1, MAX_MS), base.roundTimeoutMs),
    proofChain: given('proofChain', member => readProofChain(member, base.proofChain), base.proofChain),
    // A file can switch them off, not on for a network without them.
    devHelpers: given('devHelpers', member => member.boolean() && base.devHelpers, base.devHelpers),
  }
  checkGasBounds(value, params)
  const baseFee = value.optional('baseFee')
  return baseFee === undefined ? params : { ...params, baseFee: readBaseFee(baseFee, params) }
}

/** A file can only choose the forks' own. */
const readOwnPrices = (value: GenesisValue): null =>
  value.isNull() ? null : value.fail('want null: the prices of the forks')

const optionally = <Key extends string, Value>(
  value: GenesisValue,
  key: Key,
  read: (member: GenesisValue) => Value,
): { readonly [Name in Key]?: Value } => {
  const member = value.optional(key)
  return member === undefined ? {} : ({ [key]: read(member) } as { readonly [Name in Key]: Value })
}

/** A block bound above the block gas limit is allowed: the default is, where a file sets a small limit. */
const checkGasBounds = (value: GenesisValue, params: NetworkParams): void => {
  const { maxTxExecutionGas, maxBlockExecutionGas, blockGasLimit } = params
  if (maxTxExecutionGas === null) return
  if (maxTxExecutionGas > blockGasLimit) value.fail('maxTxExecutionGas must not exceed blockGasLimit')
  if (maxTxExecutionGas > maxBlockExecutionGas) value.fail('maxTxExecutionGas must not exceed maxBlockExecutionGas')
}

/** JSON of the parameters a file sets, members sorted, amounts decimal; without forks, which may be scheduled on a running chain. */
export const overriddenParamsText = (given: unknown, params: NetworkParams): string => {
  const { forks: _, ...pinned } = (given ?? {}) as Record<string, unknown>
  return JSON.stringify(valuesOf(pinned, params))
}

/** Returns the members of `given` with their values from `parsed`. */
const valuesOf = (given: unknown, parsed: unknown): unknown => {
  if (typeof parsed === 'bigint') return parsed.toString()
  if (typeof given !== 'object' || given === null) return parsed
  const keys = Object.keys(given).sort()
  return Object.fromEntries(keys.map(key => [key, valuesOf(member(given, key), member(parsed, key))]))
}

const member = (value: unknown, key: string): unknown => (value as Record<string, unknown>)[key]

const positive = (value: GenesisValue, max?: bigint): bigint => {
  const amount = value.amount(max)
  return amount > 0n ? amount : value.fail('want more than zero')
}

const readCommitteeSize = (value: GenesisValue): number =>
  value.integer(CONSENSUS_BOUNDS.leastCommittee, CONSENSUS_BOUNDS.committee)

const byteGas = (value: GenesisValue): bigint => value.amount(1_000_000n)

/** null: the fork's own. */
const orForks =
  (read: (value: GenesisValue) => bigint) =>
  (value: GenesisValue): bigint | null =>
    value.isNull() ? null : read(value)

/** `{ "prague": 100, "osaka": null }`: heights by name (`forksWith`). */
const readForks = (value: GenesisValue, base: readonly Fork[]): readonly Fork[] => {
  value.only(FORK_NAMES)
  const given = value.entries().map(([name, height]) => [name, height.isNull() ? null : height.integer(0)])
  const forks = forksWith(base, Object.fromEntries(given))
  checkOrder(value, forks)
  return forks
}

/** EVM forks build on each other: none may start before an earlier one. */
const checkOrder = (value: GenesisValue, forks: readonly Fork[]): void => {
  let before: { name: string; height: number } = { name: 'frontier', height: 0 }
  for (const { name, height } of forks) {
    if (!isEvmFork(name)) continue
    if (height === null) {
      before = { name, height: Number.POSITIVE_INFINITY }
      continue
    }
    if (height < before.height)
      value.fail(`${name} begins before ${before.name}: give forks in order, or null for never`)
    before = { name, height }
  }
}

/** `{ "rule": "eip1559" }`: Ethereum's, without further members. */
const readBaseFee = (value: GenesisValue, { baseFee: base, blockGasLimit }: NetworkParams): BaseFeeParams => {
  const rule = value.optional('rule')
  if (rule !== undefined) {
    value.only(['rule'])
    return rule.value === 'eip1559' ? ethereumBaseFee(blockGasLimit) : rule.fail('want eip1559')
  }
  value.only(['lowerBoundWei', 'upperBoundWei', 'gasTarget', 'maxBlockGasUsed', 'denominator'])
  const params: BaseFeeParams = {
    rule: base.rule,
    lowerBoundWei: value.optional('lowerBoundWei')?.amount(2n ** 128n) ?? base.lowerBoundWei,
    upperBoundWei: value.optional('upperBoundWei')?.amount(2n ** 128n) ?? base.upperBoundWei,
    gasTarget: optionalPositive(value, 'gasTarget') ?? base.gasTarget,
    maxBlockGasUsed: optionalPositive(value, 'maxBlockGasUsed') ?? base.maxBlockGasUsed,
    denominator: optionalPositive(value, 'denominator') ?? base.denominator,
  }
  // The bounds are rounded to even inwards, and must not cross by that.
  if (params.lowerBoundWei + (params.lowerBoundWei & 1n) > params.upperBoundWei - (params.upperBoundWei & 1n)) {
    value.fail('lowerBoundWei must not exceed upperBoundWei')
  }
  if (params.maxBlockGasUsed < params.gasTarget) value.fail('maxBlockGasUsed must be at least gasTarget')
  return params
}

const optionalPositive = (value: GenesisValue, key: string): bigint | undefined => {
  const member = value.optional(key)
  return member === undefined ? undefined : positive(member, MAX_GAS)
}

const readFeeShares = (value: GenesisValue, base: FeeShares): FeeShares => {
  value.only(['proposerPercent', 'minerPercent', 'foundationPercent'])
  const shares = {
    proposerPercent: percent(value, 'proposerPercent') ?? base.proposerPercent,
    minerPercent: percent(value, 'minerPercent') ?? base.minerPercent,
    foundationPercent: percent(value, 'foundationPercent') ?? base.foundationPercent,
  }
  if (shares.proposerPercent + shares.minerPercent + shares.foundationPercent > 100n) {
    value.fail('the shares exceed 100 percent together')
  }
  return shares
}

const percent = (value: GenesisValue, key: string): bigint | undefined => {
  const member = value.optional(key)
  return member === undefined ? undefined : BigInt(member.integer(0, 100))
}

const readRewards = (value: GenesisValue, base: RewardParams): RewardParams => {
  value.only([
    'cycleBlocks',
    'cycleRewardWei',
    'halvingNumerator',
    'halvingDenominator',
    'halvingBlocks',
    'minersPercent',
    'unionPercent',
  ])
  const params = {
    cycleBlocks: value.optional('cycleBlocks')?.integer(1, 1_000_000) ?? base.cycleBlocks,
    cycleRewardWei: value.optional('cycleRewardWei')?.amount(2n ** 128n) ?? base.cycleRewardWei,
    halvingNumerator: ratio(value, 'halvingNumerator') ?? base.halvingNumerator,
    halvingDenominator: ratio(value, 'halvingDenominator') ?? base.halvingDenominator,
    halvingBlocks: value.optional('halvingBlocks')?.integer(1) ?? base.halvingBlocks,
    minersPercent: percent(value, 'minersPercent') ?? base.minersPercent,
    unionPercent: percent(value, 'unionPercent') ?? base.unionPercent,
  }
  if (params.minersPercent + params.unionPercent > 100n) value.fail('the shares exceed 100 percent together')
  if (params.halvingNumerator > params.halvingDenominator) value.fail('a cut must not raise the reward')
  return params
}

const readCouncilParams = (value: GenesisValue, base: CouncilParams): CouncilParams => {
  value.only(['openRegistration', 'unbondingSeconds', 'inactiveBlocks', 'evidenceBlocks'])
  return {
    openRegistration: value.optional('openRegistration')?.boolean() ?? base.openRegistration,
    unbondingSeconds: value.optional('unbondingSeconds')?.integer(0, MAX_SECONDS) ?? base.unbondingSeconds,
    inactiveBlocks: value.optional('inactiveBlocks')?.integer(1, MAX_BLOCKS) ?? base.inactiveBlocks,
    evidenceBlocks: value.optional('evidenceBlocks')?.integer(1, MAX_BLOCKS) ?? base.evidenceBlocks,
  }
}

const ratio = (value: GenesisValue, key: string): bigint | undefined => {
  const member = value.optional(key)
  return member === undefined ? undefined : BigInt(member.integer(1, 1_000_000))
}

const ALGORITHMS = ['sha256d', 'nativeHash']

const PROOF_CHAIN_MEMBERS = [
  'before',
  'after',
  'spacingBlocks',
  'halfLifeBlocks',
  'maxAnchorAgeBlocks',
  'maxTargetBefore',
  'maxTargetAfter',
]
const MAX_TARGET = 2n ** 256n - 1n

const readProofChain = (value: GenesisValue, base: ProofChainParams): ProofChainParams => {
  value.only(PROOF_CHAIN_MEMBERS)
  const algorithm = (key: 'before' | 'after'): string => {
    const member = value.optional(key)
    if (member === undefined) return base[key]
    const name = ALGORITHMS.find(known => known === member.value)
    return name ?? member.fail(`want one of ${ALGORITHMS.join(', ')}`)
  }
  const blocks = (key: 'spacingBlocks' | 'halfLifeBlocks' | 'maxAnchorAgeBlocks'): number =>
    value.optional(key)?.integer(1, MAX_BLOCKS) ?? base[key]
  const target = (key: 'maxTargetBefore' | 'maxTargetAfter'): bigint => {
    const member = value.optional(key)
    return member === undefined ? base[key] : positive(member, MAX_TARGET)
  }
  return {
    before: algorithm('before'),
    after: algorithm('after'),
    spacingBlocks: blocks('spacingBlocks'),
    halfLifeBlocks: blocks('halfLifeBlocks'),
    maxAnchorAgeBlocks: blocks('maxAnchorAgeBlocks'),
    maxTargetBefore: target('maxTargetBefore'),
    maxTargetAfter: target('maxTargetAfter'),
  }
}
