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

const MAX_GAS = 2n ** 63n - 1n
const MAX_MS = 24 * 3_600_000
const MAX_SECONDS = 10 * 366 * 86_400
const MAX_BLOCKS = 100_000_000
const MAX_TARGET = 2n ** 256n - 1n

/** Readers of the members of an object. */
type Readers<T> = { readonly [Key in keyof T]?: (member: GenesisValue) => T[Key] }

/** Returns `base` with the members that an object sets. Throws GENESIS_INVALID for a member without a reader. */
const readMembers = <T extends object>(value: GenesisValue, base: T, readers: Readers<T>): T => {
  value.only(Object.keys(readers))
  const entries = Object.entries(readers as Readonly<Record<string, (member: GenesisValue) => unknown>>)
  const given = entries.flatMap(([key, read]) => {
    const member = value.optional(key)
    return member === undefined ? [] : [[key, read(member)] as const]
  })
  return { ...base, ...Object.fromEntries(given) }
}

/** Returns the network's parameters with those a genesis file sets. Throws GENESIS_INVALID. */
export const readParams = (value: GenesisValue, base: NetworkParams): NetworkParams => {
  const params = readMembers(value, base, {
    networkId: member => member.integer(1),
    forks: member => readForks(member, base.forks),
    blockTimeMs: member => member.integer(0, MAX_MS),
    blockGasLimit: gas,
    maxTxExecutionGas: orForks(gas),
    maxBlockExecutionGas: gas,
    calldataGasPerByte: orForks(member => member.amount(1_000_000n)),
    // A file can only choose the forks' own.
    precompilePrices: member => (member.isNull() ? null : member.fail('want null: the prices of the forks')),
    codeSizeLimit: member => member.integer(1, BLOCK_BOUNDS.transactionBytes),
    // Read below, since Ethereum's rule depends on the gas limit of a block.
    baseFee: () => base.baseFee,
    feeShares: member => readFeeShares(member, base.feeShares),
    rewards: member => readRewards(member, base.rewards),
    committeeSize: member => member.integer(CONSENSUS_BOUNDS.leastCommittee, CONSENSUS_BOUNDS.committee),
    minStakeWei: member => member.amount(),
    council: member => readCouncilParams(member, base.council),
    roundTimeoutMs: member => member.integer(1, MAX_MS),
    proofChain: member => readProofChain(member, base.proofChain),
    // A file can switch them off, not on for a network without them.
    devHelpers: member => member.boolean() && base.devHelpers,
  })
  checkGasBounds(value, params)
  const baseFee = value.optional('baseFee')
  return baseFee === undefined ? params : { ...params, baseFee: readBaseFee(baseFee, params) }
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

const positive =
  (max: bigint) =>
  (value: GenesisValue): bigint => {
    const amount = value.amount(max)
    return amount > 0n ? amount : value.fail('want more than zero')
  }
const gas = positive(MAX_GAS)
const blocks = (value: GenesisValue): number => value.integer(1, MAX_BLOCKS)

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
  const bound = (member: GenesisValue) => member.amount(2n ** 128n)
  const params = readMembers(value, base, {
    lowerBoundWei: bound,
    upperBoundWei: bound,
    gasTarget: gas,
    maxBlockGasUsed: gas,
    denominator: gas,
  })
  // The bounds are rounded to even inwards, and must not cross by that.
  if (params.lowerBoundWei + (params.lowerBoundWei & 1n) > params.upperBoundWei - (params.upperBoundWei & 1n)) {
    value.fail('lowerBoundWei must not exceed upperBoundWei')
  }
  if (params.maxBlockGasUsed < params.gasTarget) value.fail('maxBlockGasUsed must be at least gasTarget')
  return params
}

const percent = (value: GenesisValue): bigint => BigInt(value.integer(0, 100))

const readFeeShares = (value: GenesisValue, base: FeeShares): FeeShares => {
  const shares = readMembers(value, base, {
    proposerPercent: percent,
    minerPercent: percent,
    foundationPercent: percent,
  })
  if (shares.proposerPercent + shares.minerPercent + shares.foundationPercent > 100n) {
    value.fail('the shares exceed 100 percent together')
  }
  return shares
}

const readRewards = (value: GenesisValue, base: RewardParams): RewardParams => {
  const ratio = (member: GenesisValue) => BigInt(member.integer(1, 1_000_000))
  const params = readMembers(value, base, {
    cycleBlocks: member => member.integer(1, 1_000_000),
    cycleRewardWei: member => member.amount(2n ** 128n),
    halvingNumerator: ratio,
    halvingDenominator: ratio,
    halvingBlocks: member => member.integer(1),
    minersPercent: percent,
    unionPercent: percent,
  })
  if (params.minersPercent + params.unionPercent > 100n) value.fail('the shares exceed 100 percent together')
  if (params.halvingNumerator > params.halvingDenominator) value.fail('a cut must not raise the reward')
  return params
}

const readCouncilParams = (value: GenesisValue, base: CouncilParams): CouncilParams =>
  readMembers(value, base, {
    openRegistration: member => member.boolean(),
    unbondingSeconds: member => member.integer(0, MAX_SECONDS),
    inactiveBlocks: blocks,
    evidenceBlocks: blocks,
  })

const ALGORITHMS = ['sha256d', 'nativeHash']

const readProofChain = (value: GenesisValue, base: ProofChainParams): ProofChainParams => {
  const algorithm = (member: GenesisValue): string =>
    ALGORITHMS.find(known => known === member.value) ?? member.fail(`want one of ${ALGORITHMS.join(', ')}`)
  const target = positive(MAX_TARGET)
  return readMembers(value, base, {
    before: algorithm,
    after: algorithm,
    spacingBlocks: blocks,
    halfLifeBlocks: blocks,
    maxAnchorAgeBlocks: blocks,
    maxTargetBefore: target,
    maxTargetAfter: target,
  })
}
