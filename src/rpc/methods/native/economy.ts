import { assert } from '@tandem/base/assert.ts'
import { type Hex, toQuantity } from '@tandem/base/bytes.ts'
import { type BlockNumberRef, blockNumber } from '../../codecs/block.ts'
import { optional } from '../../codecs/codec.ts'
import { ADDRESS_SCHEMA, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import type { Context } from '../../context.ts'
import { headerNotFound } from '../../errors.ts'
import type { EconomyPort } from '../../ports.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { objectOf } from '../../schemas.ts'
import { blockNumberOf } from '../block-reads.ts'

/**
 * Answers a question about a block (default latest); throws as for missing state when this node lacks the block's data.
 */
const ask = async <T>(
  { view, economy }: Context,
  ref: BlockNumberRef = 'latest',
  question: (economy: EconomyPort, number: number) => Promise<T | undefined>,
): Promise<T> => {
  assert(economy !== undefined, 'a method is served only where its part exists')
  const number = await blockNumberOf(view, ref)
  const answer = await question(economy, number)
  if (answer === undefined) throw headerNotFound(number)
  return answer
}

const amounts = (rewards: ReadonlyMap<Hex, bigint>): Record<string, string> =>
  Object.fromEntries([...rewards].map(([who, wei]) => [who, toQuantity(wei)]))

const block = optional(blockNumber)

/** Minting, fees and supply (docs/design/money.md#supply); wei as QUANTITY, since JSON numbers cannot hold it. */
export const nativeEconomy = {
  native_getRewards: method({
    summary: 'Minting, fees, burnt wei and credits of a block',
    params: [block],
    result: objectOf('Rewards', {
      minted: QUANTITY_SCHEMA,
      totalFee: QUANTITY_SCHEMA,
      burntFee: QUANTITY_SCHEMA,
      proposer: QUANTITY_SCHEMA,
      miner: QUANTITY_SCHEMA,
      foundation: QUANTITY_SCHEMA,
      rewards: { type: 'object', propertyNames: ADDRESS_SCHEMA, additionalProperties: QUANTITY_SCHEMA },
    }),
    notes: '`proposer`, `miner` and `foundation` are the shares of the fees; `rewards` sums all credits by address.',
    requires: 'economy',
    handler: async (context, ref) => {
      const { minted, totalFee, burntFee, proposer, miner, foundation, rewards } = await ask(
        context,
        ref,
        (economy, number) => economy.rewards(number),
      )
      return {
        minted: toQuantity(minted),
        totalFee: toQuantity(totalFee),
        burntFee: toQuantity(burntFee),
        proposer: toQuantity(proposer),
        miner: toQuantity(miner),
        foundation: toQuantity(foundation),
        rewards: amounts(rewards),
      }
    },
  }),
  native_getTotalSupply: method({
    summary: 'Supply after a block: genesis and minted less burnt',
    params: [block],
    result: objectOf('Supply', {
      number: QUANTITY_SCHEMA,
      totalSupply: QUANTITY_SCHEMA,
      totalMinted: QUANTITY_SCHEMA,
      totalBurnt: QUANTITY_SCHEMA,
    }),
    requires: 'economy',
    handler: async (context, ref) => {
      const supply = await ask(context, ref, (economy, number) => economy.supply(number))
      return {
        number: toQuantity(supply.number),
        totalSupply: toQuantity(supply.totalSupply),
        totalMinted: toQuantity(supply.totalMinted),
        totalBurnt: toQuantity(supply.totalBurnt),
      }
    },
  }),
} satisfies MethodTable
