import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { type Hex, toQuantity } from '@tandem/base/bytes.ts'
import type { BlockShares } from '../../../chain/block/economy.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import type { RewardCredit } from '../../../rules/money/rewards.ts'
import { blockNumber } from '../../codecs/block.ts'
import { ADDRESS_SCHEMA, hash, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { INTEGER_SCHEMA, listOf, objectOf, orNull, quantities } from '../../codecs/schemas.ts'
import { toQuantities } from '../../encode/hex.ts'
import { headerNotFound } from '../../errors.ts'
import type { EconomyPort } from '../../ports.ts'
import { type BlockNumberRef, blockNumberOf, committedRange } from '../../router/block-reads.ts'
import { type ContextWith, type MethodTable, method } from '../../router/method.ts'
import { named, optional } from '../../router/method-description.ts'
import type { JsonSchema } from '../../router/raw-json.ts'

/** Reads of a block (default latest); throws as for missing state when this node lacks the block's data. */
const readAt = async <T>(
  { view, economy }: ContextWith<'economy'>,
  ref: BlockNumberRef = 'latest',
  read: (economy: EconomyPort, number: number) => Promise<T | undefined>,
): Promise<T> => {
  const number = await blockNumberOf(view, ref)
  const result = await read(economy, number)
  if (result === undefined) throw headerNotFound(number)
  return result
}

const amounts = (rewards: ReadonlyMap<Hex, bigint>): Record<string, string> =>
  Object.fromEntries([...rewards].map(([who, wei]) => [who, toQuantity(wei)]))

const block = optional(blockNumber)
const AMOUNTS_SCHEMA: JsonSchema = {
  type: 'object',
  propertyNames: ADDRESS_SCHEMA,
  additionalProperties: QUANTITY_SCHEMA,
}

const minersJson = (credits: readonly RewardCredit[]): Record<string, string> =>
  amounts(new Map(credits.map(({ address, amountWei }) => [address, amountWei])))

const sharesJson = (
  number: number,
  { hash, cycle, minted, totalFee, fees: { burnt: burntFee, ...fees }, union, miners }: BlockShares,
): object => ({
  blockHash: hash,
  ...toQuantities({ number, cycle, totalFee, burntFee, ...fees, minted, union }),
  miners: minersJson(miners),
})

/** Shares of each block of a range, ascending. */
const sharesOf = async (
  { view, economy, client }: ContextWith<'economy'>,
  from: BlockNumberRef,
  to: BlockNumberRef,
): Promise<readonly object[]> => {
  const { first, last } = await committedRange(view, from, to)
  const shares: object[] = []
  for (let number = first; number <= last; number++) {
    await sliceOver(client)
    const found = await economy.shares(number)
    if (found === undefined) throw headerNotFound(number)
    shares.push(sharesJson(number, found))
  }
  return shares
}

const FEES = ['minted', 'totalFee', 'burntFee', 'proposer', 'miner', 'foundation'] as const

const SHARES_SCHEMA = objectOf('RewardShares', {
  blockHash: hash.schema,
  ...quantities('number', 'cycle', 'union', ...FEES),
  miners: AMOUNTS_SCHEMA,
})

const PERIOD_SCHEMA = objectOf('RewardPeriod', {
  ...quantities('firstBlock', 'lastBlock', 'cycleReward', 'minted'),
  cycles: INTEGER_SCHEMA,
})

/** Minting, fees and supply (docs/design/money.md#supply); wei as QUANTITY, since JSON numbers cannot hold it. */
export const nativeEconomy = {
  native_getRewards: method({
    summary: 'Minting, fees, burnt wei and credits of a block',
    params: [block],
    result: objectOf('Rewards', { ...quantities(...FEES), rewards: AMOUNTS_SCHEMA }),
    notes: '`proposer`, `miner` and `foundation` are the shares of the fees; `rewards` sums all credits by address.',
    requires: 'economy',
    handler: async (context, ref) => {
      const { rewards, ...fees } = await readAt(context, ref, (economy, number) => economy.rewards(number))
      return { ...toQuantities(fees), rewards: amounts(rewards) }
    },
  }),
  native_getRewardShares: method({
    summary: 'Shares of the fees and of the minting of each block of a range, ascending, both ends included',
    params: [named('from', blockNumber), named('to', blockNumber)],
    result: listOf(SHARES_SCHEMA),
    notes: `At most ${RPC_LIMITS.blockRange} blocks; more is -32602. \`union\` is the part of the block’s proposer in what its cycle mints, \`minted\` and \`miners\` what the block that ends a cycle mints, and pays to the coinbases of proof headers.`,
    requires: 'economy',
    weight: 20,
    handler: sharesOf,
  }),
  native_getSupplySchedule: method({
    summary: 'Periods of the reward, each with the minting of a cycle and of the whole period',
    result: objectOf('SupplySchedule', {
      genesis: QUANTITY_SCHEMA,
      maxSupply: orNull(QUANTITY_SCHEMA),
      periods: listOf(PERIOD_SCHEMA),
    }),
    notes: `From the rules alone. Until the reward is 0, at most ${RPC_LIMITS.rewardPeriods} periods; \`maxSupply\` is null where that is not the end. The reward is cut after the \`lastBlock\` of each.`,
    requires: 'economy',
    handler: ({ economy }) => {
      const { genesisWei, maxWei, periods } = economy.schedule(RPC_LIMITS.rewardPeriods)
      return {
        genesis: toQuantity(genesisWei),
        maxSupply: maxWei === undefined ? null : toQuantity(maxWei),
        periods: periods.map(({ fromBlock, toBlock, cycles, rewardWei, mintedWei }) => ({
          firstBlock: toQuantity(fromBlock),
          lastBlock: toQuantity(toBlock),
          cycles,
          cycleReward: toQuantity(rewardWei),
          minted: toQuantity(mintedWei),
        })),
      }
    },
  }),
  native_getTotalSupply: method({
    summary: 'Supply after a block: genesis and minted less burnt',
    params: [block],
    result: objectOf('Supply', quantities('number', 'totalSupply', 'totalMinted', 'totalBurnt')),
    requires: 'economy',
    handler: async (context, ref) =>
      toQuantities(await readAt(context, ref, (economy, number) => economy.supply(number))),
  }),
} satisfies MethodTable
