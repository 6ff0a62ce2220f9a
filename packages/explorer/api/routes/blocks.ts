import type { Hex } from '@tandem/base/bytes.ts'
import { recordAt } from '../../chain/rpc-chain.ts'
import { checksumAddress } from '../../keccak.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import type { BlockRecord } from '../../store/records.ts'
import type { BlockRow } from '../../store/sql/rows.ts'
import { notFound } from '../api-error.ts'
import type { ApiContext, ApiRoute } from '../api-route.ts'
import { pageOfShape } from '../json-schema.ts'
import { type ListQuery, PAGE_QUERY, pageBody, pageRequest } from '../paging.ts'
import { BLOCK_ITEM_SHAPE, BLOCK_SHAPE } from '../shapes.ts'

const NUMBER_PARAMETER = {
  type: 'string',
  pattern: '^(0|[1-9][0-9]{0,14})$',
  description: 'Number of a block',
} as const

export const blockItem = (block: Omit<BlockRow, 'transactionCount'>, transactionCount: number) => ({
  number: block.number,
  hash: block.hash,
  parentHash: block.parentHash,
  timestamp: block.timestamp,
  miner: checksumAddress(block.miner),
  proposer: checksumAddress(block.proposer),
  transactionCount,
  gasUsed: block.gasUsed.toString(),
  gasLimit: block.gasLimit.toString(),
  baseFeePerGas: block.baseFeePerGas.toString(),
  size: block.size,
  feesWei: block.feesWei.toString(),
  burntWei: block.burntWei.toString(),
  mintedWei: block.mintedWei.toString(),
})

/** Earnings of proposer and miners from a block; the foundation gets the rest of fees and minting at the end of each cycle. */
const rewardsOf = ({ proposer, proposerWei, miner, minerWei, minerCredits }: BlockRecord) =>
  [
    { address: checksumAddress(proposer), role: 'union', amountWei: proposerWei } as const,
    { address: checksumAddress(miner), role: 'miner', amountWei: minerWei } as const,
    ...minerCredits.map(
      ({ address, amountWei }) => ({ address: checksumAddress(address), role: 'miner', amountWei }) as const,
    ),
  ]
    .filter(({ amountWei }) => amountWei > 0n)
    .map(reward => ({ ...reward, amountWei: reward.amountWei.toString() }))

/** Round, committee and signers; null where the node has no certificate of the block. */
const decisionOf = async ({ source }: ApiContext, number: number) => {
  const { round, committee, committers } = await source.decision(number)
  return {
    round,
    committee: committee?.map(checksumAddress) ?? null,
    committers: committers?.map(checksumAddress) ?? null,
  }
}

/** Throws NOT_FOUND. */
export const blockBody = async (context: ApiContext, number: number) => {
  const { source, rules } = context
  const head = (await source.headNumber()) ?? 0
  const [block, record] = number > head ? [] : await Promise.all([source.block(number), recordAt(source, number)])
  if (block === undefined || record === undefined) throw notFound(`block ${number} is not known`)
  const { transactions, stateRoot, transactionsRoot, receiptsRoot, extraData } = block
  return {
    ...blockItem(record, transactions.length),
    ...{ stateRoot, transactionsRoot, receiptsRoot, extraData },
    difficulty: '1',
    totalDifficulty: String(number + 1),
    // Elsewhere a node may still replace it.
    finalized: rules.tandem !== undefined,
    ...(await decisionOf(context, number)),
    rewards: rewardsOf(record),
    transactions: transactions.slice(0, EXPLORER_LIMITS.api.blockHashes).map(({ hash }) => hash),
    previous: number === 0 ? null : number - 1,
    next: number < head ? number + 1 : null,
  }
}

/** A page of blocks, newest first. Throws INVALID_PARAMETER. */
export const blocksBody = async ({ index }: ApiContext, query: ListQuery) => {
  const request = pageRequest(query, ['number'])
  const page = await index.blocks(request)
  const items = page.items.map(block => blockItem(block, block.transactionCount))
  return pageBody(page, items, request, (await index.counters()).blocks)
}

/** A page of the blocks that an address proposed or was the beneficiary of, newest first. Throws INVALID_PARAMETER. */
export const producedBlocksBody = async (
  { index }: ApiContext,
  role: 'miner' | 'proposer',
  address: Hex,
  query: ListQuery,
) => {
  const request = pageRequest(query, ['number'])
  const [page, producer] = await Promise.all([index.blocksBy(role, address, request), index.producer(address)])
  const items = page.items.map(block => blockItem(block, block.transactionCount))
  const total = role === 'miner' ? producer?.mined : producer?.proposed
  return pageBody(page, items, request, total ?? 0)
}

export const blockRoutes: readonly ApiRoute[] = [
  {
    path: '/api/blocks',
    summary: 'Blocks, newest first',
    query: PAGE_QUERY,
    result: pageOfShape(BLOCK_ITEM_SHAPE),
    needsIndex: true,
    handler: (context, { query }) => blocksBody(context, query),
  },
  {
    path: '/api/blocks/:number',
    summary: 'One block, with its roots, committee and the hashes of its first hundred transactions',
    params: { number: NUMBER_PARAMETER },
    result: BLOCK_SHAPE,
    caching: 'block',
    needsIndex: false,
    handler: (context, { params }) => blockBody(context, Number(params['number'])),
  },
]
