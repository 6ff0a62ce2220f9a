import type { Hex } from '@tandem/base/bytes.ts'
import { queryLogs } from '../../chain/logs/log-query.ts'
import { ProofRows } from '../../chain/proof/proof-rows.ts'
import { BlockStore } from '../../chain/store/block-store.ts'
import { readIncludedReceipt } from '../../chain/store/included.ts'
import type { ChainBlock, IncludedReceipt, LogEntry, LogQuery, TransactionLocation } from '../../chain/types.ts'
import type { ChainParams } from '../../config/networks.ts'
import { decodeProofHeader } from '../../primitives/proof-header.ts'
import type { FailedExecution } from '../../primitives/receipt/failed-execution.ts'
import { endsCycle } from '../../rules/council/cycle.ts'
import { openStateReader } from '../../state/history/stored-state.ts'
import type { AsyncStateReader } from '../../state/state-reader.ts'
import type { Store } from '../../storage/store.ts'
import type { ChainSource, LogSearchLimits } from '../chain/chain-source.ts'
import { recordOfBlock, recordOfProof } from '../indexer/block-record.ts'
import type { BlockRecord, ProofRecord } from '../store/records.ts'

/** The committed chain in the database of the node that the explorer belongs to. */
export class LocalChain implements ChainSource {
  readonly blocks: BlockStore
  readonly store: Store
  readonly params: ChainParams
  readonly #proofRows: ProofRows

  constructor(store: Store, params: ChainParams) {
    this.store = store
    this.params = params
    this.blocks = new BlockStore(store)
    this.#proofRows = new ProofRows(params, store)
  }

  headNumber(): Promise<number | undefined> {
    return this.blocks.headNumber()
  }

  async includes(number: number, hash: Hex): Promise<boolean> {
    return (await this.blocks.numberOf(hash)) === number
  }

  async record(number: number): Promise<BlockRecord | undefined> {
    const block = await this.blocks.block(number)
    const receipts = block && (await this.blocks.receiptsWithoutBlooms(number))
    if (block === undefined || receipts === undefined) return undefined
    const [internal, failed, proofs] = await Promise.all([
      this.blocks.internalTransfers(number),
      this.blocks.failedExecutions(number),
      this.#proofs(block),
    ])
    const coinbases = endsCycle(number, this.params.rewards.cycleBlocks)
      ? this.#proofRows.coinbasesAt(block.extra.proofTip)
      : []
    // Proof headers below a snapshot are not fetched yet: without them the record would be false for good.
    if (coinbases === undefined) return undefined
    return recordOfBlock(block, receipts, { internal, failed, proofs, coinbases }, this.params)
  }

  receipt(place: TransactionLocation): Promise<IncludedReceipt | undefined> {
    return readIncludedReceipt(this.blocks, place)
  }

  async failedExecution({ number, index }: TransactionLocation): Promise<FailedExecution | undefined> {
    return (await this.blocks.failedExecutions(number)).find(({ transactionIndex }) => transactionIndex === index)
  }

  logs(query: LogQuery, limits: LogSearchLimits): Promise<readonly LogEntry[]> {
    return queryLogs(this.store, this.blocks, query, limits)
  }

  async onState<T>(work: (state: AsyncStateReader) => T | Promise<T>): Promise<T> {
    const state = await openStateReader(this.store, (await this.blocks.headNumber()) ?? 0)
    try {
      return await work(state)
    } finally {
      state.release()
    }
  }

  async #proofs({ proofHeaders }: ChainBlock): Promise<readonly ProofRecord[]> {
    const records = proofHeaders.map(async bytes => {
      const header = decodeProofHeader(bytes)
      const anchor = await this.blocks.header(header.anchorNumber)
      return recordOfProof(header, anchor?.header.timestamp ?? 0, this.params)
    })
    return Promise.all(records)
  }

  forget(): void {
    this.blocks.forget()
  }

  close(): Promise<void> {
    return this.store.close()
  }
}
