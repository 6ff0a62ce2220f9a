import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { secondsOf } from '../../chain/rules.ts'
import type { Block } from '../../chain/types.ts'
import { checksumAddress } from '../../keccak.ts'
import { type ApiContext, type ApiRoute, tandemOf } from '../api-route.ts'
import { formatGwei, roundTo, tokensFromWei } from '../format.ts'
import { NETWORK_SHAPE, PRICE_SHAPE, SUPPLY_SHAPE, UNIONS_SHAPE } from '../shapes.ts'
import { aprOf, currentSupply, nextHalving, supplyBody, unionYearWei } from './economy.ts'

const headOf = async ({ source }: Pick<ApiContext, 'source'>): Promise<Block> => {
  const number = await source.headNumber()
  const head = number === undefined ? undefined : await source.block(number)
  assert(head !== undefined, 'a chain has its head')
  return head
}

/** Blocks over which transactions per second are counted. */
const RATE_BLOCKS = 60

/** Transactions per second of the newest blocks, without genesis: its time is any before the chain's start. */
const transactionRate = async ({ index }: ApiContext): Promise<number> => {
  const newestFirst = await index.blocks({ limit: RATE_BLOCKS + 1, offset: 0, after: null })
  const items = newestFirst.items.filter(({ number }) => number > 0)
  const [newest, oldest] = [items[0], items.at(-1)]
  if (newest === undefined || oldest === undefined) return 0
  const seconds = newest.timestamp - oldest.timestamp
  const transactions = items.slice(0, -1).reduce((sum, { transactionCount }) => sum + transactionCount, 0)
  return seconds <= 0 ? transactions : roundTo(transactions / seconds, 2)
}

/** The first and the last four digits of an address. */
const shortAddress = (address: Hex): string => `${address.slice(0, 6)}…${address.slice(-4)}`

/** State of the head, with the gas price and the rate of transactions. */
export const networkBody = async (context: ApiContext) => {
  const head = await headOf(context)
  const gasPrice = await context.node.gasPriceWei()
  return {
    blockNumber: head.number,
    gasPrice: gasPrice.toString(),
    gasPriceGwei: formatGwei(gasPrice),
    tps: await transactionRate(context),
    latestBlock: {
      number: head.number,
      miner: shortAddress(head.miner),
      proposer: shortAddress(head.proposer),
      minerAddress: checksumAddress(head.miner),
      proposerAddress: checksumAddress(head.proposer),
      gasUsed: head.gasUsed.toString(),
      gasLimit: head.gasLimit.toString(),
      baseFeePerGas: head.baseFeePerGas.toString(),
      transactionCount: head.transactions.length,
    },
  }
}

/** Members of the council with stake, rewards and yield. */
export const unionsBody = async (context: ApiContext) => {
  const { node, index, rules, nowMs } = context
  const { rewards, minStakeWei } = tandemOf(context)
  const number = (await context.source.headNumber()) ?? 0
  const members = await node.council()
  const year = unionYearWei(number, rewards, rules)
  const count = BigInt(Math.max(1, members.length))
  const halving = nextHalving(number, rewards)
  const rows = members.map(async member => {
    const producer = await index.producer(member.validator)
    const { stakeWei } = member
    const rewardWei = producer?.proposedWei ?? 0n
    return {
      name: member.name,
      address: checksumAddress(member.validator),
      totalStaked: tokensFromWei(stakeWei),
      totalStakedWei: stakeWei.toString(),
      totalReward: tokensFromWei(rewardWei),
      totalRewardWei: rewardWei.toString(),
      estimatedAnnualReward: tokensFromWei(year.now / count),
      halvingAwareAPR: aprOf(year.halvingAware / count, stakeWei),
      startBlockNumber: member.startBlock ?? null,
      slots: minStakeWei === 0n ? 1 : Math.max(1, Number(stakeWei / minStakeWei)),
      proposedBlocks: producer?.proposed ?? 0,
      online: member.isActive,
    }
  })
  return {
    members: await Promise.all(rows),
    totalCnt: members.length,
    halving: {
      block: rewards.halvingBlocks,
      nextBlock: halving.nextBlock,
      blocksRemaining: halving.blocksRemaining,
      currentReward: tokensFromWei(halving.currentWei),
      nextReward: tokensFromWei(halving.nextWei),
      estimatedTimestamp: Math.floor(nowMs() / 1_000 + secondsOf(halving.blocksRemaining, rules)),
    },
  }
}

/** State of the chain as a whole (docs/explorer.md#endpoints). */
export const networkRoutes: readonly ApiRoute[] = [
  {
    path: '/api/supply',
    summary: 'What was minted, for whom, and what is still to come',
    result: SUPPLY_SHAPE,
    needsIndex: false,
    handler: async context => supplyBody(await currentSupply(context), tandemOf(context).rewards),
  },
  {
    path: '/api/network',
    summary: 'Head of the chain, gas price and transactions per second',
    result: NETWORK_SHAPE,
    needsIndex: false,
    handler: context => networkBody(context),
  },
  {
    path: '/api/price',
    summary: 'Price of the native token; null while no source has one',
    result: PRICE_SHAPE,
    needsIndex: false,
    handler: ({ price }) => price.price(),
  },
  {
    path: '/api/unions',
    summary: 'Members of the council with stake, rewards and yield',
    result: UNIONS_SHAPE,
    needsIndex: true,
    handler: context => unionsBody(context),
  },
]
