import { runSlicedWork, type SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { Lru } from '@tandem/base/lru.ts'
import { SharedValues } from '@tandem/base/shared-values.ts'
import { CHAIN_LIMITS } from '../../config/limits/chain.ts'
import { memoryShares } from '../../config/limits/storage.ts'
import { storedBlockHash } from '../../evm/block-env.ts'
import { encodeBlockParts } from '../../primitives/block.ts'
import { type Certificate, decodeCertificate } from '../../primitives/consensus/certificate.ts'
import { decodeExtraData, type ExtraData } from '../../primitives/consensus/extra-data.ts'
import { decodeHeader, type Header } from '../../primitives/header.ts'
import { type FailedExecution, readFailedExecutions } from '../../primitives/receipt/failed-execution.ts'
import { type BlockInternalTransfer, readInternalTransfers } from '../../primitives/receipt/internal-transfer.ts'
import {
  decodeStoredReceipts,
  deriveReceipts,
  deriveWithoutBlooms,
  type Receipt,
  type ReceiptPrices,
  type ReceiptWithoutBloom,
} from '../../primitives/receipt/receipt.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey, readNumber } from '../../storage/keys.ts'
import type { Snapshot, Store } from '../../storage/store.ts'
import { BodyRow, locationFromKey, lookupPrefix } from './body-row.ts'
import type { LogCriteria } from './log-criteria.ts'
import type { BlockRows } from './put-block.ts'
import { readReceipts } from './receipt-parts.ts'
import { ReceiptsRow } from './receipts-row.ts'
import type { ChainRules } from './rules-port.ts'
import { type EncodedLogs, StoredBlock, sumTips, tipsPaid } from './stored-block.ts'
import type { ChainBlock, TipShare, TransactionLocation } from './types.ts'

interface BlockStoreOptions extends Partial<Pick<ChainRules, 'extraOf' | 'pricesOf'>> {
  /** Memory of the caches, bytes, of the default memory when omitted; of the rows a third by default. */
  readonly cacheBytes?: number
  readonly rowBytes?: number
  /** Called while a long row is decoded, after each transaction or log: returns a promise to await first, when other work is due. */
  readonly pauseIfDue?: () => Promise<void> | undefined
}

export const nativeExtra = (header: Header): ExtraData => decodeExtraData(header.extraData)

/**
 * Reader of the committed chain (headers, bodies, receipts, certificates, lookups) with caches of recent reads, bounded in size. It knows
 * nothing of state and rules. Every result is final, except on a development chain, which may revert blocks (`forget`).
 */
export class BlockStore {
  readonly #store: Store
  readonly #extraOf: ChainRules['extraOf']
  readonly #pricesOf: ChainRules['pricesOf']
  readonly #pauseIfDue: () => Promise<void> | undefined
  readonly #blocks: Lru<number, ChainBlock>
  readonly #receipts: Lru<number, readonly Receipt[]>
  /** Blocks read for single transactions, receipts or logs, and such reads under way. */
  readonly #stored: Lru<number, StoredBlock>
  /** Long ones, which the caches do not keep: readers at the same time share one copy of a block of megabytes. */
  readonly #storedInUse = new SharedValues<number, StoredBlock>()
  readonly #storedReads = new Map<number, Promise<StoredBlock | undefined>>()
  readonly #tips: Lru<number, readonly TipShare[]>
  readonly #hashes = new Lru<number, Hex>(CHAIN_LIMITS.hashCache)
  /** First block of the contiguous range up to the head (store/earliest-block.ts). */
  earliest = 0
  /** Grows when blocks are reverted; reads begun before are not cached. */
  #generation = 0

  constructor(
    store: Store,
    {
      extraOf = nativeExtra,
      pricesOf = nativePrices,
      pauseIfDue = sliceOver,
      cacheBytes = memoryShares().blocks,
      rowBytes = cacheBytes / 3,
    }: BlockStoreOptions = {},
  ) {
    this.#store = store
    this.#blocks = new Lru({ limit: cacheBytes / 3, weigh: weightOfBlock })
    this.#receipts = new Lru({ limit: cacheBytes / 6, weigh: weightOfReceipts })
    this.#stored = new Lru({ limit: rowBytes, weigh: block => block.byteLength })
    this.#tips = new Lru({ limit: cacheBytes / 24, weigh: shares => 128 + shares.length * 128 })
    this.#extraOf = extraOf
    this.#pricesOf = pricesOf
    this.#pauseIfDue = pauseIfDue
  }

  #inSlices<Result>(decoding: SlicedWork<Result>): Result | Promise<Result> {
    return runSlicedWork(decoding, this.#pauseIfDue)
  }

  async numberOf(hash: Hex): Promise<number | undefined> {
    const row = await this.#store.get(BUCKETS.blockNumber, hexToBytes(hash))
    return row && readNumber(row)
  }

  /** Without the transactions, which may be thousands. */
  async header(number: number): Promise<Pick<ChainBlock, 'header' | 'extra'> | undefined> {
    const kept = this.#blocks.peek(number)
    if (kept) return kept
    const row = await this.#store.get(BUCKETS.header, numberKey(number))
    if (row === undefined) return undefined
    const header = decodeHeader(row)
    return { header, extra: this.#extraOf(header) }
  }

  async block(number: number, snapshot?: Snapshot): Promise<ChainBlock | undefined> {
    const kept = this.#blocks.get(number)
    if (kept) return kept
    const generation = this.#generation
    const key = numberKey(number)
    const [headerRow, bodyRow] = await Promise.all([
      this.#store.get(BUCKETS.header, key, snapshot),
      this.#store.get(BUCKETS.body, key, snapshot),
    ])
    if (headerRow === undefined || bodyRow === undefined) return undefined
    const header = decodeHeader(headerRow)
    const block = { header, extra: this.#extraOf(header), ...(await this.#inSlices(new BodyRow(bodyRow).block())) }
    if (generation === this.#generation) this.#blocks.set(number, block)
    return block
  }

  /** Returns the block's RLP, assembled from its raw rows; not cached. */
  async encoded(number: number): Promise<Uint8Array | undefined> {
    const key = numberKey(number)
    const [header, body] = await Promise.all([this.#store.get(BUCKETS.header, key), this.#store.get(BUCKETS.body, key)])
    return header && body && encodeBlockParts(header, new BodyRow(body).encodable())
  }

  async receipts(number: number, snapshot?: Snapshot): Promise<readonly Receipt[] | undefined> {
    const kept = this.#receipts.get(number)
    if (kept) return kept
    const generation = this.#generation
    const [row, block] = await Promise.all([readReceipts(this.#store, number, snapshot), this.block(number, snapshot)])
    if (row === undefined || block === undefined) return undefined
    const stored = await this.#inSlices(decodeStoredReceipts(row))
    const context = { transactions: block.transactions, ...this.#pricesOf(block.header) }
    const receipts = await this.#inSlices(deriveReceipts(stored, context))
    if (generation === this.#generation) this.#receipts.set(number, receipts)
    return receipts
  }

  /** Receipts of a block without blooms, for readers of every block; not cached. */
  async receiptsWithoutBlooms(number: number): Promise<readonly ReceiptWithoutBloom[] | undefined> {
    const kept = this.#receipts.peek(number)
    if (kept) return kept
    const [row, block] = await Promise.all([readReceipts(this.#store, number), this.block(number)])
    if (row === undefined || block === undefined) return undefined
    const stored = await this.#inSlices(decodeStoredReceipts(row))
    return this.#inSlices(
      deriveWithoutBlooms(stored, { transactions: block.transactions, ...this.#pricesOf(block.header) }),
    )
  }

  /** Wei that contracts of a block moved, and contracts that they created, decoded one after the other; empty also when the block was not executed here. */
  async internalTransfers(number: number): Promise<Iterable<BlockInternalTransfer>> {
    const row = await this.#store.get(BUCKETS.internalTransfers, numberKey(number))
    return row === undefined ? [] : readInternalTransfers(row)
  }

  /** Causes of the failures of a block's transactions, decoded one after the other; empty also when the block was not executed here. */
  async failedExecutions(number: number): Promise<Iterable<FailedExecution>> {
    const row = await this.#store.get(BUCKETS.failedExecutions, numberKey(number))
    return row === undefined ? [] : readFailedExecutions(row)
  }

  /** Returns the rows of a block, for single transactions and receipts when its objects are not in memory. */
  stored(number: number): StoredBlock | Promise<StoredBlock | undefined> {
    const kept = this.#stored.get(number) ?? this.#storedInUse.get(number)
    if (kept) return kept
    const under = this.#storedReads.get(number)
    if (under) return under
    const read = this.#readStored(number).finally(() => {
      if (this.#storedReads.get(number) === read) this.#storedReads.delete(number)
    })
    this.#storedReads.set(number, read)
    return read
  }

  async #readStored(number: number): Promise<StoredBlock | undefined> {
    const generation = this.#generation
    const stored = await this.#readRows(number)
    if (stored && generation === this.#generation) {
      this.#stored.set(number, stored)
      if (!this.#stored.has(number)) this.#storedInUse.set(number, stored)
    }
    return stored
  }

  async #readRows(number: number): Promise<StoredBlock | undefined> {
    const key = numberKey(number)
    const [headerRow, bodyRow, receiptsRow] = await Promise.all([
      this.#store.get(BUCKETS.header, key),
      this.#store.get(BUCKETS.body, key),
      readReceipts(this.#store, number),
    ])
    if (headerRow === undefined || bodyRow === undefined || receiptsRow === undefined) return undefined
    const header = decodeHeader(headerRow)
    const body = new BodyRow(bodyRow)
    return new StoredBlock(header, { body, receipts: new ReceiptsRow(receiptsRow, body.count) }, this.#pricesOf(header))
  }

  /** Returns a block and its receipts as objects if they are in memory, as those of recent blocks are. */
  recent(number: number): { readonly block: ChainBlock; readonly receipts: readonly Receipt[] } | undefined {
    const [block, receipts] = [this.#blocks.peek(number), this.#receipts.peek(number)]
    return block && receipts && { block, receipts }
  }

  /** Returns the gas of a block by the tip it paid above the base fee. */
  async tips(number: number): Promise<readonly TipShare[] | undefined> {
    const kept = this.#tips.get(number)
    if (kept) return kept
    const generation = this.#generation
    const recent = this.recent(number)
    // Not cached: the rows of a thousand blocks, each read once, would evict those that are read again.
    const paid = recent
      ? tipsPaid(recent.block, recent.receipts)
      : (this.#stored.peek(number) ?? (await this.#readRows(number)))?.tipsPaid()
    const tips = paid && (await sumTips(paid))
    if (tips && generation === this.#generation) this.#tips.set(number, tips)
    return tips
  }

  /** Returns the logs of a block as `StoredBlock.logs`; undefined when it is not stored. */
  async logs(
    number: number,
    criteria: LogCriteria,
    limit: number,
    wanted?: readonly number[],
  ): Promise<EncodedLogs | undefined> {
    const stored = await this.stored(number)
    return stored && this.#inSlices(stored.logs(criteria, limit, wanted))
  }

  /** Returns the newest location of a transaction. */
  async locate(transactionHash: Hex): Promise<TransactionLocation | undefined> {
    const range = { prefix: lookupPrefix(transactionHash), reverse: true }
    const row = await this.#store.first(BUCKETS.transactionPlace, range)
    if (row === undefined) return undefined
    const location = locationFromKey(row[0])
    if ((await this.#hashAt(location)) === transactionHash) return location
    // Another one with the same start of the hash.
    for await (const other of this.locations(transactionHash)) return other
    return undefined
  }

  /** Yields every location of a transaction, newest first: on a development chain it may be in several blocks. */
  async *locations(transactionHash: Hex): AsyncGenerator<TransactionLocation> {
    const range = { prefix: lookupPrefix(transactionHash), reverse: true }
    for await (const key of this.#store.keys(BUCKETS.transactionPlace, range)) {
      const location = locationFromKey(key)
      if ((await this.#hashAt(location)) === transactionHash) yield location
    }
  }

  async #hashAt({ number, index }: TransactionLocation): Promise<Hex | undefined> {
    const recent = this.#blocks.peek(number)
    return recent ? recent.transactions[index]?.hash : (await this.stored(number))?.transactionHash(index)
  }

  async certificate(number: number): Promise<Certificate | undefined> {
    const row = await this.#store.get(BUCKETS.certificate, numberKey(number))
    return row && decodeCertificate(row)
  }

  /** Returns the hash of a committed block synchronously: for BLOCKHASH and the parent links of recent blocks. */
  hashOf(number: number): Hex | undefined {
    const kept = this.#hashes.get(number)
    if (kept) return kept
    const hash = storedBlockHash(this.#store, number)
    if (hash) this.#hashes.set(number, hash)
    return hash
  }

  /** Clears the caches after blocks were reverted. */
  forget(): void {
    this.#generation++
    const caches = [this.#blocks, this.#receipts, this.#stored, this.#tips, this.#hashes]
    for (const cache of [...caches, this.#storedInUse]) cache.clear()
    this.#storedReads.clear()
  }

  /** Caches a committed block, which is read next. */
  remember({ block, receipts }: Pick<BlockRows, 'block' | 'receipts'>): void {
    this.#blocks.set(block.header.number, block)
    this.#receipts.set(block.header.number, receipts)
    this.#hashes.set(block.header.number, block.hash)
  }
}

export const nativePrices = (header: Header): ReceiptPrices => ({ baseFeePerGas: header.baseFeePerGas ?? 0n })

const weightOfBlock = (block: ChainBlock): number => 2_048 + block.size + block.transactions.length * 600
const weightOfReceipts = (receipts: readonly Receipt[]): number => {
  let bytes = 256
  for (const receipt of receipts) {
    bytes += 400
    for (const log of receipt.logs) bytes += 600 + log.data.byteLength
  }
  return bytes
}
