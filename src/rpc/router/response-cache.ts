import type { MaybePromise } from '@tandem/base/async/maybe-promise.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { Lru } from '@tandem/base/lru.ts'
import type { Uint64 } from '@tandem/base/uint64.ts'
import { includedReceiptsFromBlock, includedTransactionFromBlock } from '../../chain/store/included.ts'
import type { ChainBlock, ChainView, CommittedEvent } from '../../chain/store/types.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import { blockJson } from '../encode/block.ts'
import { receiptJson } from '../encode/receipt.ts'
import { transactionJson } from '../encode/transaction.ts'
import { isLongReceipt, LargeResponses, mayHaveLongReceipts } from './large-responses.ts'
import { NULL_JSON, RawJson, type StreamedJson } from './raw-json.ts'

/** Overhead of a cached entry in bytes, besides its text. */
const ENTRY_BYTES = 200

/** Cache of final blocks, transactions and receipts as JSON text, returned without a promise; large ones are written as read. */
export class ResponseCache {
  readonly #cache: Lru<string, RawJson>
  readonly #view: ChainView
  readonly #large: LargeResponses
  /** Transactions known to have long receipts: those are read only in their turn. */
  readonly #long = new Lru<Hex, true>(RPC_LIMITS.longReceipts)
  /** Development chain: blocks may be reverted, and a block may have a transaction again that an earlier one has. */
  readonly #isRevertible: boolean
  #earliest = 0
  /** Grows when blocks are reverted or come on a development chain; texts loaded before are not cached. */
  #generation = 0
  readonly #stops: readonly (() => void)[]

  constructor(view: ChainView, limitBytes: number = RPC_LIMITS.renderedCacheBytes) {
    this.#view = view
    this.#large = new LargeResponses(view)
    this.#cache = new Lru({
      limit: limitBytes,
      weigh: ({ text }) => text.length + ENTRY_BYTES,
      heaviest: limitBytes / 4,
    })
    this.#isRevertible = view.onReplaced !== undefined
    this.#stops = this.#isRevertible
      ? [view.onReplaced?.(() => this.#forgetAll()) ?? (() => {}), view.onCommitted(event => this.#forgetOlder(event))]
      : [view.onCommitted(() => this.#forgetDropped())]
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }

  #forgetAll(): void {
    this.#generation++
    this.#cache.clear()
    this.#long.clear()
  }

  #forgetDropped(): void {
    const earliest = this.#view.earliest()
    if (earliest > this.#earliest) this.#forgetAll()
    this.#earliest = earliest
  }

  /** Forgets where earlier blocks have the transactions of a new one. */
  #forgetOlder({ block }: CommittedEvent): void {
    this.#generation++
    for (const { hash } of block.transactions) {
      this.#cache.delete(`t${hash}`)
      this.#cache.delete(`r${hash}`)
      this.#long.delete(hash)
    }
  }

  #keep(key: string, text: string, generation = this.#generation): RawJson {
    const json = new RawJson(text)
    if (generation === this.#generation) this.#cache.set(key, json)
    return json
  }

  block(block: ChainBlock, full: boolean, generation = this.#generation): RawJson | StreamedJson {
    const { number } = block.header
    if (full && block.transactions.length > RPC_LIMITS.largeBlockTransactions) return this.#large.block(number)
    const key = blockKey(number, full)
    return this.#cache.get(key) ?? this.#keep(key, blockJson(block, full), generation)
  }

  blockByNumber(number: Uint64, full: boolean): MaybePromise<RawJson | StreamedJson> {
    const head = this.#view.head()
    if (number === head.header.number) return this.block(head, full)
    if (typeof number === 'bigint' || number > head.header.number) return NULL_JSON
    return this.#cache.get(blockKey(number, full)) ?? this.#render(this.#view.blockByNumber(number), full)
  }

  blockByHash(hash: Hex, full: boolean): MaybePromise<RawJson | StreamedJson> {
    const head = this.#view.head()
    if (hash === head.hash) return this.block(head, full)
    return this.#render(this.#view.blockByHash(hash), full)
  }

  async #render(finding: Promise<ChainBlock | undefined>, full: boolean): Promise<RawJson | StreamedJson> {
    const generation = this.#generation
    const block = await finding
    return block === undefined ? NULL_JSON : this.block(block, full, generation)
  }

  /** Returns a transaction; undefined when no block includes it. */
  transaction(hash: Hex): RawJson | Promise<RawJson | undefined> {
    return this.#cache.get(`t${hash}`) ?? this.#loadTransaction(hash)
  }

  async #loadTransaction(hash: Hex): Promise<RawJson | undefined> {
    const generation = this.#generation
    const placed = await this.#view.transaction(hash)
    return placed && this.#keep(`t${hash}`, transactionJson(placed.transaction, placed), generation)
  }

  transactionAt(block: ChainBlock, index: number): RawJson | undefined {
    const transaction = block.transactions[index]
    if (transaction === undefined) return undefined
    const key = this.#isRevertible ? `T${block.hash}${index}` : `t${transaction.hash}`
    return (
      this.#cache.get(key) ?? this.#keep(key, transactionJson(transaction, includedTransactionFromBlock(block, index)))
    )
  }

  receipt(hash: Hex): MaybePromise<RawJson | StreamedJson | undefined> {
    return this.#cache.get(`r${hash}`) ?? this.#loadReceipt(hash)
  }

  async #loadReceipt(hash: Hex): Promise<RawJson | StreamedJson | undefined> {
    if (this.#long.get(hash)) return this.#large.receipt(hash)
    const generation = this.#generation
    const placed = await this.#view.receipt(hash)
    if (placed !== undefined && isLongReceipt(placed)) {
      this.#long.set(hash, true)
      return this.#large.receipt(hash)
    }
    return placed && this.#keep(`r${hash}`, receiptJson(placed), generation)
  }

  async receipts(block: ChainBlock): Promise<RawJson | StreamedJson> {
    const key = `R${block.header.number}`
    const known = this.#cache.get(key)
    if (known !== undefined) return known
    if (mayHaveLongReceipts(block)) return this.#large.receipts(block)
    const generation = this.#generation
    const receipts = await this.#view.receipts(block.header.number)
    return receipts === undefined
      ? NULL_JSON
      : this.#keep(key, `[${includedReceiptsFromBlock(block, receipts).map(receiptJson).join(',')}]`, generation)
  }
}

const blockKey = (number: number, full: boolean): string => (full ? `B${number}` : `b${number}`)
