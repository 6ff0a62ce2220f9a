import { andThen, type MaybePromise } from '@tandem/base/async/maybe-promise.ts'
import { toQuantity } from '@tandem/base/bytes.ts'
import type { ChainBlock, ChainView } from '../../../chain/store/types.ts'
import { blockFromParts } from '../../../primitives/block.ts'
import type { Header } from '../../../primitives/header.ts'
import { block, blockNumber } from '../../codecs/block.ts'
import { full, hash, index, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { BLOCK_SCHEMA, HEADER_SCHEMA, listOf, orNull, RECEIPT_SCHEMA } from '../../codecs/schemas.ts'
import { blockJson, headerJson } from '../../encode/block.ts'
import { type BlockNumberRef, type BlockRef, findBlock, namedNumber } from '../../router/block-reads.ts'
import type { Context } from '../../router/context.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { NULL_JSON, RawJson, type StreamedJson } from '../../router/raw-json.ts'

export const blockByNumberRef = (
  { view, responseCache }: Context,
  ref: BlockNumberRef,
  full: boolean,
): MaybePromise<RawJson | StreamedJson> => {
  if (ref === 'pending') return view.pending().then(pending => new RawJson(blockJson(pending.block, full, 'pending')))
  return responseCache.blockByNumber(namedNumber(ref, view.head().header.number), full)
}

export const blockOrPending = ({ view }: Context, ref: BlockRef): MaybePromise<ChainBlock | undefined> =>
  ref === 'pending' ? view.pending().then(pending => pending.block) : findBlock(view, ref)

const headerOf = (context: Context, ref: BlockRef): MaybePromise<RawJson> =>
  andThen(blockOrPending(context, ref), found =>
    found === undefined ? NULL_JSON : new RawJson(headerJson(found, ref === 'pending' ? 'pending' : 'final')),
  )

/** Header object of an uncle; null when there is none. */
const uncleJson = async (view: ChainView, block: ChainBlock, index: number): Promise<RawJson> => {
  const uncle = block.ethereum?.uncles[index]
  if (uncle === undefined) return NULL_JSON
  // The parent of a valid uncle is a block of the chain.
  const parent = await view.blockByHash(uncle.parentHash)
  const totalDifficulty = (parent?.ethereum?.totalDifficulty ?? 0n) + uncle.difficulty
  return new RawJson(
    headerJson({ ...emptyBlock(uncle, totalDifficulty), extra: { ...block.extra, proposer: uncle.miner } }),
  )
}

const emptyBlock = (header: Header, totalDifficulty: bigint) =>
  blockFromParts(header, {
    transactions: [],
    proofHeaders: [],
    evidence: [],
    ethereum: { uncles: [], withdrawals: undefined, totalDifficulty },
  })

const NO_UNCLES = 'Only a recorded chain with proof of work (tandem fixture) has any.'

const transactionCount = method({
  summary: 'Number of transactions in a block',
  params: [blockNumber],
  result: orNull(QUANTITY_SCHEMA),
  handler: (context, ref: BlockRef) =>
    andThen(blockOrPending(context, ref), found =>
      found === undefined ? null : toQuantity(found.transactions.length),
    ),
})

const uncleCount = method({
  summary: 'Number of uncles: 0x0',
  params: [blockNumber],
  result: orNull(QUANTITY_SCHEMA),
  notes: NO_UNCLES,
  handler: (context, ref: BlockRef) =>
    andThen(blockOrPending(context, ref), found =>
      found === undefined ? null : toQuantity(found.ethereum?.uncles.length ?? 0),
    ),
})

const uncle = method({
  summary: 'An uncle: there are none',
  params: [blockNumber, index],
  result: orNull(HEADER_SCHEMA),
  notes: NO_UNCLES,
  handler: (context, ref: BlockRef, at) =>
    andThen(blockOrPending(context, ref), found =>
      found === undefined ? NULL_JSON : uncleJson(context.view, found, at),
    ),
})

/** Blocks by number and hash; null when unknown. */
export const ethBlocks = {
  eth_getBlockByNumber: method({
    summary: 'A block by number or tag, with its transactions as hashes or in full',
    params: [blockNumber, full],
    result: orNull(BLOCK_SCHEMA),
    notes: 'The pending block has neither number nor hash.',
    handler: blockByNumberRef,
  }),
  eth_getBlockByHash: method({
    summary: 'A block by hash, with its transactions as hashes or in full',
    params: [hash, full],
    result: orNull(BLOCK_SCHEMA),
    handler: ({ responseCache }, id, full) => responseCache.blockByHash(id, full),
  }),
  eth_getHeaderByNumber: method({
    summary: 'A block without its transactions, by number or tag',
    params: [blockNumber],
    result: orNull(HEADER_SCHEMA),
    handler: headerOf,
  }),
  eth_getHeaderByHash: method({
    summary: 'A block without its transactions, by hash',
    params: [hash],
    result: orNull(HEADER_SCHEMA),
    handler: headerOf,
  }),
  eth_getBlockTransactionCountByNumber: transactionCount,
  eth_getBlockTransactionCountByHash: { ...transactionCount, params: [hash] },
  eth_getBlockReceipts: method({
    summary: 'All receipts of a block',
    params: [block],
    result: orNull(listOf(RECEIPT_SCHEMA)),
    notes: 'null for the pending block: a pending transaction has no receipt.',
    weight: 5,
    handler: (context, ref) => {
      if (ref === 'pending') return NULL_JSON
      return andThen(findBlock(context.view, ref), found =>
        found === undefined ? NULL_JSON : context.responseCache.receipts(found),
      )
    },
  }),
  eth_getUncleCountByBlockNumber: uncleCount,
  eth_getUncleCountByBlockHash: { ...uncleCount, params: [hash] },
  eth_getUncleByBlockNumberAndIndex: uncle,
  eth_getUncleByBlockHashAndIndex: { ...uncle, params: [hash, index] },
} satisfies MethodTable
