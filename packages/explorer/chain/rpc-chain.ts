import { type Hex, toQuantity } from '@tandem/base/bytes.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import { type Nonce, uint64FromBigint } from '@tandem/base/uint64.ts'
import { proofHeightAfter, recordOfBlock } from '../indexer/block-record.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import type { BlockRecord, FailedExecution } from '../store/records.ts'
import { type ExecutedBlock, type ExtraReads, PlainReads, RANGE, TandemReads } from './block-extras.ts'
import { blockFrom, headerFrom, logEntryFrom, receiptFrom, receiptsFrom, transactionFrom } from './decode.ts'
import type { NodeClient } from './node-client.ts'
import type { ChainRules } from './rules.ts'
import type {
  Block,
  BlockHeader,
  Decision,
  IncludedReceipt,
  LogEntry,
  LogQuery,
  LogSearchError,
  Receipt,
  TransactionLocation,
} from './types.ts'

const readGas: bigint = EXPLORER_LIMITS.index.readGas

/** State of the head. Two reads may see two blocks. */
export interface HeadState {
  account(address: Hex): Promise<{ readonly balance: bigint; readonly nonce: Nonce }>
  code(address: Hex): Promise<Uint8Array>
  storage(address: Hex, slot: Hex): Promise<Hex>
}

/**
 * The committed chain of a node, over its JSON-RPC. Blocks and transactions that the node does not have are undefined. Reads throw
 * CodedError<NodeRequestError>.
 */
export class RpcChain {
  readonly rules: ChainRules
  readonly state: HeadState
  readonly #node: NodeClient
  readonly #extras: ExtraReads
  /** Blocks of the next request of a range. */
  #span: number = EXPLORER_LIMITS.index.readBlocks

  constructor(node: NodeClient, rules: ChainRules) {
    this.#node = node
    this.rules = rules
    this.state = headState(node)
    this.#extras = rules.tandem === undefined ? new PlainReads(node) : new TandemReads(node)
  }

  /** The last head that is known while the node is away; undefined before the first. */
  async headNumber(): Promise<number | undefined> {
    // Blocks of a development chain may be taken back without a new head.
    const told = this.#node.currentHead
    if (told !== undefined && !this.rules.isDevelopment) return told
    try {
      return (await this.#node.call('eth_blockNumber')).integer()
    } catch (error) {
      if (isCoded(error) && error.code === 'NODE_UNREACHABLE') return this.#node.head
      throw error
    }
  }

  /** Returns true when a block is part of the current chain. */
  async includes(number: number, hash: Hex): Promise<boolean> {
    return (await this.header(number))?.hash === hash
  }

  async header(number: number): Promise<BlockHeader | undefined> {
    const found = await this.#node.call('eth_getBlockByNumber', toQuantity(number), false)
    return found.isNull ? undefined : headerFrom(found)
  }

  async block(number: number): Promise<Block | undefined> {
    const found = await this.#node.call('eth_getBlockByNumber', toQuantity(number), true)
    return found.isNull ? undefined : blockFrom(found, number)
  }

  async numberOf(blockHash: Hex): Promise<number | undefined> {
    const found = await this.#node.call('eth_getBlockByHash', blockHash, false)
    return found.isNull ? undefined : found.member('number').integer()
  }

  async locate(transactionHash: Hex): Promise<TransactionLocation | undefined> {
    const found = await this.#node.call('eth_getTransactionByHash', transactionHash)
    if (found.isNull || found.member('blockNumber').isNull) return undefined
    return { number: found.member('blockNumber').integer(), index: found.member('transactionIndex').integer() }
  }

  async receipt(transactionHash: Hex): Promise<IncludedReceipt | undefined> {
    const [transaction, receipt] = await Promise.all([
      this.#node.call('eth_getTransactionByHash', transactionHash),
      this.#node.call('eth_getTransactionReceipt', transactionHash),
    ])
    if (transaction.isNull || receipt.isNull) return undefined
    const [firstLog] = receipt.member('logs').items()
    return {
      transaction: transactionFrom(transaction),
      receipt: receiptFrom(receipt),
      blockHash: receipt.member('blockHash').hex(32),
      blockNumber: receipt.member('blockNumber').integer(),
      index: receipt.member('transactionIndex').integer(),
      firstLog: firstLog?.member('logIndex').integer() ?? 0,
    }
  }

  decision(number: number): Promise<Decision> {
    return this.#extras.decision(number)
  }

  /** Cause of a transaction's failure, for blocks that are not indexed yet; undefined: it succeeded, or the node does not know. */
  failedExecution(place: TransactionLocation): Promise<FailedExecution | undefined> {
    return this.#extras.failedExecution(place)
  }

  /**
   * Index records of a range of blocks, ascending; `proofHeight` is that of the last proof header before them. Ends early when the chain
   * changes meanwhile.
   */
  async *records(from: number, to: number, proofHeight: number): AsyncGenerator<BlockRecord> {
    let [at, height] = [from, proofHeight]
    while (at <= to) {
      const blocks = await this.#extras.blocks(at, Math.min(to, at + this.#span - 1))
      if (blocks.length === 0) return
      this.#span = spanAfter(blocks)
      for (const group of byGas(blocks)) {
        const records = await this.#recordsOf(group, height)
        if (records === undefined) return
        height = proofHeightAfter(records, height)
        yield* records
      }
      at += blocks.length
    }
  }

  /** Throws CodedError<LogSearchError> for searches that are too wide. */
  async logs({ address, topics, fromBlock, toBlock }: LogQuery, limit: number): Promise<readonly LogEntry[]> {
    const range = { fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock) }
    const tooMany = new CodedError<LogSearchError>({ code: 'TOO_MANY_LOGS', limit })
    const found = await this.#node
      .call('eth_getLogs', { ...range, ...(address && { address }), topics })
      .catch((error: unknown) => {
        throw isCoded(error) && error.code === 'NODE_REFUSED' ? tooMany : error
      })
    const items = found.items()
    if (items.length > limit) throw tooMany
    return items.map(logEntryFrom)
  }

  close(): Promise<void> {
    return this.#node.close()
  }

  /** undefined: the chain changed meanwhile. */
  async #recordsOf(blocks: readonly Block[], proofHeight: number): Promise<readonly BlockRecord[] | undefined> {
    const receipts = await Promise.all(blocks.map(block => this.#receipts(block)))
    const executed: ExecutedBlock[] = []
    for (const [at, block] of blocks.entries()) {
      const own = receipts[at]
      if (own === undefined) return undefined
      executed.push({ block, receipts: own })
    }
    const extras = await this.#extras.extras(executed, proofHeight)
    return extras?.map((extra, at) => recordOfBlock(executed[at] as ExecutedBlock, extra))
  }

  async #receipts(block: Block): Promise<readonly Receipt[] | undefined> {
    if (block.transactions.length === 0) return []
    const found = await this.#node.call('eth_getBlockReceipts', toQuantity(block.number))
    return found.isNull ? undefined : receiptsFrom(found, block)
  }
}

/** Chain as the explorer reads it. */
export type ChainSource = Pick<RpcChain, keyof RpcChain>

/** Index record of a block; undefined when the node does not have it. */
export const recordAt = async (source: ChainSource, number: number): Promise<BlockRecord | undefined> => {
  // Proof headers are those of the index.
  for await (const record of source.records(number, number, Number.POSITIVE_INFINITY)) return record
  return undefined
}

/** Successive blocks that used `readGas` together, or one that used more: their gas bounds what receipts and internal transfers take. */
const byGas = (blocks: readonly Block[]): readonly (readonly Block[])[] => {
  const groups: Block[][] = []
  let gas = 0n
  for (const block of blocks) {
    gas += block.gasUsed
    const group = groups.at(-1)
    if (group !== undefined && gas <= readGas) group.push(block)
    else {
      groups.push([block])
      gas = block.gasUsed
    }
  }
  return groups
}

/** Blocks to read next, so that their transactions take about four groups. */
const spanAfter = (blocks: readonly Block[]): number => {
  const gas = blocks.reduce((sum, { gasUsed }) => sum + gasUsed, 1n)
  return Math.max(1, Math.min(RANGE, Number((4n * readGas * BigInt(blocks.length)) / gas)))
}

const headState = (node: NodeClient): HeadState => ({
  account: async address => {
    const [balance, nonce] = await Promise.all([
      node.call('eth_getBalance', address, 'latest'),
      node.call('eth_getTransactionCount', address, 'latest'),
    ])
    return { balance: balance.quantity(), nonce: uint64FromBigint(nonce.quantity()) }
  },
  code: async address => (await node.call('eth_getCode', address, 'latest')).bytes(),
  storage: async (address, slot) => (await node.call('eth_getStorageAt', address, slot, 'latest')).hex(32),
})
