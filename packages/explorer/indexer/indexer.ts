import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { invalidResult } from '../chain/node-value.ts'
import type { ChainSource } from '../chain/rpc-chain.ts'
import type { ContractCall } from '../indexer/token-metadata.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import type { BlockRecord, IndexPosition } from '../store/records.ts'
import type { SqlIndex } from '../store/sql/sql-index.ts'
import { proofHeightAfter } from './block-record.ts'
import { BackfillProgress } from './progress.ts'
import { readTokenMetadata } from './token-metadata.ts'

/** Batch that is read while the one before it is written. */
interface ReadAhead {
  /** Hash of the block before it. */
  readonly parentHash: Hex
  readonly records: Promise<readonly BlockRecord[]>
}

/** Blocks that a step has read. */
interface Taken {
  /** Last block that was read; at first that of the index. */
  last: IndexPosition | undefined
  /** Height of the last proof header up to that block. */
  proofHeight: number
  blocks: number
  transactions: number
  rows: number
}

/** Errors of an indexer, thrown as CodedError. */
type IndexerError =
  /** The index is of another chain. */
  | { readonly code: 'INDEX_OF_OTHER_CHAIN'; readonly found: Hex; readonly expected: Hex | null; readonly fix: string }
  /** The node refuses a block that the index is at, or that is next: it has dropped old blocks, or still fetches them. */
  | { readonly code: 'BLOCKS_MISSING'; readonly number: number; readonly reason: string; readonly fix: string }

interface IndexerOptions {
  readonly source: ChainSource
  readonly call: ContractCall
  readonly index: SqlIndex
  readonly logger: Logger
  readonly nowMs: () => number
  /** `EXPLORER_LIMITS.index.batchBlocks` when left out. */
  readonly batchBlocks?: number
  /** `EXPLORER_LIMITS.index.backfillBlocks` when left out. */
  readonly backfillBlocks?: number
  /** `EXPLORER_LIMITS.index.bulkRows` when left out. */
  readonly bulkRows?: number
  /** An index that shares no block with the chain is left as it is; otherwise it is emptied. */
  readonly keepsForeign?: boolean
}

/** Rows of a block that grow with what its transactions do. */
const rowsOf = ({ transactions, transfers, internal }: BlockRecord): number =>
  transactions.length + transfers.length + internal.length

/** Reads a block. Throws BLOCKS_MISSING when the node refuses it: sums over all blocks need each of them. */
const keptBlock = async <T>(number: number, read: (number: number) => Promise<T>): Promise<T> => {
  try {
    return await read(number)
  } catch (error) {
    if (!isCoded(error) || error.code !== 'NODE_REFUSED') throw error
    const reason = (error.detail as { readonly message?: string }).message ?? ''
    const fix =
      'the index needs every block: lead --node to a node that keeps them (--history full), or wait while this one fetches its history'
    throw new CodedError<IndexerError>({ code: 'BLOCKS_MISSING', number, reason, fix }, { cause: error })
  }
}

/** `behind`: there is more to do at once. */
export type IndexerState = 'behind' | 'at the head'

/**
 * Brings the index after the chain, a batch of blocks at a time, each whole with its position in one transaction. Blocks that the chain took
 * back (development chains) are taken off first; an index of another chain is emptied. It reads the database and writes the index, nothing else.
 */
export class Indexer {
  readonly #options: IndexerOptions
  readonly #progress: BackfillProgress
  #ahead: ReadAhead | undefined
  #isStopping = false

  constructor(options: IndexerOptions) {
    this.#options = options
    this.#progress = new BackfillProgress(options.logger, options.nowMs)
  }

  /** One batch, or several at once far behind the head, then a few tokens. Safe to end at any instant. */
  async step(): Promise<IndexerState> {
    const { source, index } = this.#options
    const head = await source.headNumber()
    if (head === undefined) return 'at the head'
    if (await this.#isAhead(head)) return 'at the head'
    const position = await this.#reconcile()
    if (position === undefined && this.#isFar(-1, head)) await index.beginBackfill()
    const taken: Taken = { last: position, proofHeight: await this.#proofHeight(), blocks: 0, transactions: 0, rows: 0 }
    await index.appendAll(this.#batches(taken, head))
    const reached = taken.last?.number ?? -1
    // A range that begins with dropped blocks looks as one beyond the head; every node has genesis.
    if (taken.blocks === 0 && reached < head) await keptBlock(Math.max(1, reached + 1), number => source.header(number))
    // While the index is still too far behind for lists to be served.
    if (!this.#isFar(reached, head)) await index.endBackfill()
    this.#progress.report({ number: reached, head, blocks: taken.blocks, transactions: taken.transactions })
    const hasMoreTokens = await this.#readTokens()
    return hasMoreTokens || (taken.blocks > 0 && reached < head) ? 'behind' : 'at the head'
  }

  /** Ends a step that takes in many batches after the one at hand. */
  stop(): void {
    this.#isStopping = true
  }

  /** Batches of one transaction of the index: far behind the head as many as come within a few seconds, otherwise one. */
  async *#batches(taken: Taken, head: number): AsyncGenerator<readonly BlockRecord[]> {
    const { nowMs, bulkRows = EXPLORER_LIMITS.index.bulkRows } = this.#options
    const untilMs = nowMs() + EXPLORER_LIMITS.index.bulkMs
    do {
      const records = await this.#nextBatch(taken, head).catch((error: unknown) => {
        // Earlier batches are kept; the next step meets the failure again.
        if (taken.blocks === 0) throw error
        return []
      })
      const last = records.at(-1)
      if (last === undefined) return
      taken.last = last
      taken.proofHeight = proofHeightAfter(records, taken.proofHeight)
      taken.blocks += records.length
      for (const record of records) {
        taken.transactions += record.transactions.length
        taken.rows += rowsOf(record)
      }
      yield records
    } while (this.#isFar(taken.last.number, head) && taken.rows < bulkRows && nowMs() < untilMs && !this.#isStopping)
  }

  #isFar(reached: number, head: number): boolean {
    const { backfillBlocks = EXPLORER_LIMITS.index.backfillBlocks } = this.#options
    return head - reached > backfillBlocks
  }

  /** Returns true when the node is behind the index on the same chain, and will come after: a node that syncs takes no block back. */
  async #isAhead(head: number): Promise<boolean> {
    const { source, index } = this.#options
    const position = await index.position()
    if (source.rules.isDevelopment || position === undefined || position.number <= head) return false
    const shared = await index.block(head)
    return shared !== undefined && (await source.includes(head, shared.hash))
  }

  /** Returns the last block that index and chain share; undefined when none. Later blocks are removed from the index. */
  async #reconcile(): Promise<IndexPosition | undefined> {
    const { source, index, logger } = this.#options
    const position = await index.position()
    if (position === undefined) return undefined
    if (await keptBlock(position.number, number => source.includes(number, position.hash))) return position
    const shared = await this.#lastShared(position.number)
    const isKept = this.#options.keepsForeign === true
    if (isKept && (shared < 0 || position.number - shared > EXPLORER_LIMITS.index.takenBack))
      throw await this.#foreign(shared + 1)
    logger.info({ from: position.number, to: shared }, 'the chain took blocks back, and so does the index')
    await index.rollback(shared)
    return index.position()
  }

  async #foreign(number: number): Promise<CodedError<IndexerError>> {
    const { source, index } = this.#options
    const [found, expected] = [(await index.block(number))?.hash ?? '0x', (await source.header(number))?.hash ?? null]
    const fix = `the node has another chain from block ${number} on: lead --node to one of this chain, or give another --datadir (--database)`
    return new CodedError<IndexerError>({ code: 'INDEX_OF_OTHER_CHAIN', found, expected, fix })
  }

  /**
   * Blocks are shared up to some number and none behind it. Where an index is kept, a block that the node does not have is no block that was taken
   * back: throws NODE_ANSWER_INVALID.
   */
  async #lastShared(number: number): Promise<number> {
    const { source, index } = this.#options
    let [low, high] = [-1, number]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      const [block, header] = await Promise.all([index.block(middle), source.header(middle)])
      if (header === undefined && this.#options.keepsForeign === true)
        throw invalidResult(`the node has no block ${middle}, which the index has`)
      if (block !== undefined && header?.hash === block.hash) low = middle
      else high = middle
    }
    return low
  }

  /** The batch behind what was taken; begins to read the one after it. */
  async #nextBatch({ last: position, proofHeight }: Taken, head: number): Promise<readonly BlockRecord[]> {
    const ahead = this.#ahead
    this.#ahead = undefined
    const isNext = ahead !== undefined && ahead.parentHash === position?.hash
    const records = await (isNext ? ahead.records : this.#readBatch(position, head, proofHeight))
    const last = records.at(-1)
    if (last !== undefined && last.number < head) {
      const next = this.#readBatch(last, head, proofHeightAfter(records, proofHeight))
      // Reported by the step that needs it; there may be none.
      next.catch(() => undefined)
      this.#ahead = { parentHash: last.hash, records: next }
    }
    return records
  }

  /** Blocks in order, each the child of the one before; fewer when the chain changes meanwhile. */
  async #readBatch(
    position: IndexPosition | undefined,
    head: number,
    proofHeight: number,
  ): Promise<readonly BlockRecord[]> {
    const { source, batchBlocks = EXPLORER_LIMITS.index.batchBlocks } = this.#options
    const { batchRows } = EXPLORER_LIMITS.index
    const records: BlockRecord[] = []
    const from = (position?.number ?? -1) + 1
    let rows = 0
    for await (const record of source.records(from, Math.min(head, from + batchBlocks - 1), proofHeight)) {
      const parent = records.at(-1) ?? position
      if (parent !== undefined && record.parentHash !== parent.hash) break
      records.push(record)
      rows += rowsOf(record)
      if (rows >= batchRows) break
    }
    return records
  }

  /** Height of the newest proof header of the index; 0 without one. */
  async #proofHeight(): Promise<number> {
    const { items } = await this.#options.index.proofHeaders({ limit: 1, offset: 0, after: null })
    return items[0]?.height ?? 0
  }

  /** Reads the metadata of a few tokens that are new, or whose supply changed; returns true when there may be more. */
  async #readTokens(): Promise<boolean> {
    const { index, call } = this.#options
    const { perStep } = EXPLORER_LIMITS.token
    const tokens = await index.tokensToRead(perStep)
    for (const { address, standard } of tokens)
      await index.writeToken(address, await readTokenMetadata(call, address, standard))
    return tokens.length === perStep
  }
}
