import type { Hex } from '@tandem/base/bytes.ts'
import { CHAIN_LIMITS } from '../config/limits/chain.ts'
import { RPC_LIMITS } from '../config/limits/clients.ts'
import type { NetworkParams } from '../config/networks.ts'
import { proposerOrder } from '../consensus/committee.ts'
import type { Header } from '../primitives/header.ts'
import { nextBaseFee } from '../rules/money/base-fee.ts'
import { openStateReader } from '../state/history/stored-state.ts'
import type { WorldState } from '../state/world/world-state.ts'
import type { Store } from '../storage/store.ts'
import type { Chain } from './chain.ts'
import type { Council } from './council/council.ts'
import { queryLogs } from './logs/log-query.ts'
import type { PendingBlockBuilder } from './pending-block.ts'
import type { BlockStore } from './store/block-store.ts'
import { requireHistory } from './store/earliest-block.ts'
import { readIncludedReceipt, readIncludedTransaction, readReceiptStream } from './store/included.ts'
import { criteriaBytes } from './store/log-criteria.ts'
import type { ChainReplaced, ChainView, LogEntry, LogQuery, SyncStatus } from './store/types.ts'

export interface ChainViewOptions {
  readonly params: NetworkParams
  readonly genesisHash: Hex
  readonly foundation: Hex
  readonly store: Store
  readonly blocks: BlockStore
  readonly world: WorldState
  readonly chain: Pick<Chain, 'headBlock' | 'onCommitted'>
  readonly council: Pick<Council, 'committee' | 'memberStatuses'>
  readonly pending: PendingBlockBuilder
  /** On a development chain: base fee of the child of a header, and subscription to replaced heads. */
  readonly baseFeeAfter?: (header: Header) => bigint
  readonly onReplaced?: (listener: (event: ChainReplaced) => void) => () => void
  /** Queries over many blocks, off this thread; returns the same as `queryLogs`. */
  readonly wideLogs: (query: LogQuery) => Promise<readonly LogEntry[]>
  /** Omitted for a node without peers, which is always at its own head. */
  readonly syncing?: () => SyncStatus | false
}

/** Creates the read view of the servers over the parts that hold the chain. */
export const createChainView = (options: ChainViewOptions): ChainView => {
  const { params, genesisHash, foundation, chain, council, pending } = options
  return {
    params,
    genesisHash,
    foundation,
    ...blockReads(options),
    ...transactionReads(options),
    committee: number => {
      const committee = council.committee(number)
      return committee && proposerOrder(committee, number)
    },
    committeeByIndex: number => council.committee(number)?.members,
    council: number => council.memberStatuses(number),
    ...stateReads(options),
    pending: () => pending.state(),
    nextBaseFee: () => {
      const { header } = chain.headBlock
      return options.baseFeeAfter?.(header) ?? nextBaseFee(header, params.baseFee)
    },
    syncing: options.syncing ?? (() => false),
    onCommitted: listener => chain.onCommitted(listener),
    ...(options.onReplaced && { onReplaced: options.onReplaced }),
  }
}

const blockReads = ({ blocks, chain }: ChainViewOptions) => {
  const head = () => chain.headBlock
  const isKnown = (number: number) => number <= head().header.number
  /** Reads something of a block; undefined beyond the head. Throws HISTORY_MISSING. */
  const ofBlock = async <T>(number: number, read: (number: number) => Promise<T>): Promise<T | undefined> => {
    requireHistory(blocks.earliest, number)
    return isKnown(number) ? read(number) : undefined
  }
  return {
    head,
    earliest: () => blocks.earliest,
    headerByNumber: number => ofBlock(number, async at => (await blocks.header(at))?.header),
    blockByNumber: async number => (number === head().header.number ? head() : ofBlock(number, at => blocks.block(at))),
    blockByHash: async hash => {
      if (hash === head().hash) return head()
      const number = await foundOrWhole(blocks, () => blocks.numberOf(hash))
      return number !== undefined && isKnown(number) ? blocks.block(number) : undefined
    },
    receipts: number => ofBlock(number, at => blocks.receipts(at)),
    receiptStream: number => ofBlock(number, at => readReceiptStream(blocks, at)),
    internalTransfers: async number => (await ofBlock(number, at => blocks.internalTransfers(at))) ?? [],
    failedExecutions: async number => (await ofBlock(number, at => blocks.failedExecutions(at))) ?? [],
    tips: number => ofBlock(number, at => blocks.tips(at)),
    certificate: number => blocks.certificate(number),
  } satisfies Partial<ChainView>
}

/** Looks a hash up; an unknown one may be of a block that is not fetched yet. Throws HISTORY_MISSING. */
const foundOrWhole = async <T>(
  { earliest }: BlockStore,
  find: () => Promise<T | undefined>,
): Promise<T | undefined> => {
  const found = await find()
  if (found === undefined) requireHistory(earliest, 1)
  return found
}

const transactionReads = ({ blocks, chain }: ChainViewOptions) => {
  const locate = async (hash: Hex) => {
    const location = await foundOrWhole(blocks, () => blocks.locate(hash))
    return location && location.number <= chain.headBlock.header.number ? location : undefined
  }
  return {
    locate,
    transaction: async hash => {
      const place = await locate(hash)
      return place && readIncludedTransaction(blocks, place)
    },
    receipt: async hash => {
      const place = await locate(hash)
      return place && readIncludedReceipt(blocks, place)
    },
  } satisfies Partial<ChainView>
}

const stateReads = ({ store, blocks, world, wideLogs }: ChainViewOptions) =>
  ({
    oldestState: () => world.oldest,
    headState: world.head,
    stateAt: number => openStateReader(store, number),
    logs: async query => {
      requireHistory(blocks.earliest, query.fromBlock, query.toBlock)
      const isWide = query.toBlock - query.fromBlock >= CHAIN_LIMITS.logSliceBlocks
      if (isWide || criteriaBytes(query) > CHAIN_LIMITS.logSliceCriteria) return wideLogs(query)
      const found = await queryLogs(store, blocks, query, {
        results: RPC_LIMITS.logResults,
        timeoutMs: RPC_LIMITS.logQueryMs,
        nowMs: () => performance.now(),
      })
      // Blocks that were dropped meanwhile have no logs.
      requireHistory(blocks.earliest, query.fromBlock, query.toBlock)
      return found
    },
    prove: (number, address, slots) => world.prove(number, address, slots),
  }) satisfies Partial<ChainView>
