import type { Hex } from '@tandem/base/bytes.ts'
import { checksumAddress } from '../../keccak.ts'
import type { RewardRow } from '../../store/sql/rows.ts'
import { type ApiContext, type ApiRoute, tandemOf } from '../api-route.ts'
import { tokensFromWei } from '../format.ts'
import { ADDRESS, arrayOf, BOOLEAN, DECIMAL, INTEGER, NUMBER, pageOfShape, shape, TEXT } from '../json-schema.ts'
import { type ListQuery, PAGE_QUERY, pageBody, pageRequest } from '../paging.ts'
import { ADDRESS_PARAMETER, addressOfPath } from './addresses.ts'

const REWARD_SHAPE = shape({
  address: ADDRESS,
  cycle: INTEGER,
  firstBlock: INTEGER,
  lastBlock: INTEGER,
  role: { ...TEXT, enum: ['miner', 'union'] },
  blocks: INTEGER,
  reward: NUMBER,
  rewardWei: DECIMAL,
  isPaid: BOOLEAN,
})

/** `head`: last block of the index. A cycle is paid at its last block. */
const rewardItem = (context: ApiContext, head: number, { address, cycle, role, blocks, wei }: RewardRow) => {
  const { cycleBlocks } = tandemOf(context).rewards
  const lastBlock = (cycle + 1) * cycleBlocks
  return {
    address: checksumAddress(address),
    cycle,
    // Genesis is of the first cycle, and earns nothing.
    firstBlock: cycle * cycleBlocks + 1,
    lastBlock,
    role,
    blocks,
    reward: tokensFromWei(wei),
    rewardWei: wei.toString(),
    isPaid: head >= lastBlock,
  }
}

const headOf = async ({ index }: ApiContext): Promise<number> => (await index.position())?.number ?? 0

const addressRewardsBody = async (context: ApiContext, address: Hex, query: ListQuery) => {
  tandemOf(context)
  const request = pageRequest(query, ['number', 'number'])
  const [page, head] = await Promise.all([context.index.rewardsOf(address, request), headOf(context)])
  const items = page.items.map(row => rewardItem(context, head, row))
  return pageBody(page, items, request, null)
}

export const rewardRoutes: readonly ApiRoute[] = [
  {
    path: '/api/addresses/:address/rewards',
    summary: 'What an address earned as miner and as member of the union, by cycle, newest first',
    params: ADDRESS_PARAMETER,
    query: PAGE_QUERY,
    result: pageOfShape(REWARD_SHAPE),
    needsIndex: true,
    handler: (context, { params, query }) => addressRewardsBody(context, addressOfPath(params), query),
  },
  {
    path: '/api/rewards',
    summary: 'What the miners and members of the union earned in one cycle',
    query: { cycle: { ...INTEGER, minimum: 0, description: 'The newest when left out; 0 is the first' } },
    result: shape({ cycle: INTEGER, items: arrayOf(REWARD_SHAPE) }),
    needsIndex: true,
    handler: async (context, { query }) => {
      const head = await headOf(context)
      const newest = head === 0 ? 0 : Math.floor((head - 1) / tandemOf(context).rewards.cycleBlocks)
      const { cycle = newest } = query as { readonly cycle?: number }
      const rows = await context.index.rewardsOfCycle(cycle)
      return { cycle, items: rows.map(row => rewardItem(context, head, row)) }
    },
  },
]
