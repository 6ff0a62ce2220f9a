import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Block } from '../../primitives/block.ts'
import type { Header } from '../../primitives/header.ts'
import { GrowingBloom } from '../../primitives/receipt/bloom.ts'
import { decodeLog, type EncodedLog, type Log } from '../../primitives/receipt/log.ts'
import { deriveOutcome, deriveReceipt, type Receipt, type ReceiptPrices } from '../../primitives/receipt/receipt.ts'
import { effectiveTip } from '../../primitives/transaction/transaction.ts'
import type { BodyRow } from './body-row.ts'
import { type LogCriteria, matchesEncoded, soleItem } from './log-criteria.ts'
import type { ReceiptsRow } from './receipts-row.ts'
import type { IncludedReceipt, IncludedTransaction, LogEntry, StreamedReceipt, TipShare } from './types.ts'

/** Committed block as raw rows: one transaction or receipt is read alone, and rows take a fifth of the memory of objects. */
export class StoredBlock {
  readonly #header: Header
  readonly #body: BodyRow
  readonly #receipts: ReceiptsRow
  readonly #prices: ReceiptPrices

  constructor(header: Header, rows: { readonly body: BodyRow; readonly receipts: ReceiptsRow }, prices: ReceiptPrices) {
    this.#header = header
    this.#body = rows.body
    this.#receipts = rows.receipts
    this.#prices = prices
  }

  get byteLength(): number {
    return 1_024 + this.#body.byteLength + this.#receipts.byteLength
  }

  transaction(index: number): IncludedTransaction {
    return {
      transaction: this.#body.transaction(index),
      blockHash: this.#body.blockHash,
      blockNumber: this.#header.number,
      blockTimestamp: this.#header.timestamp,
      index,
      baseFeePerGas: this.#prices.baseFeePerGas,
    }
  }

  /** Yields the tip paid by each transaction, without reading its logs. */
  *tipsPaid(): Generator<TipShare> {
    const { baseFeePerGas } = this.#prices
    let gasBefore = 0n
    for (let index = 0; index < this.#body.count; index++) {
      const gasUpTo = this.#receipts.gasUpTo(index)
      yield { tip: effectiveTip(this.#body.transaction(index), baseFeePerGas), gas: gasUpTo - gasBefore }
      gasBefore = gasUpTo
    }
  }

  receipt(index: number): IncludedReceipt {
    const placed = this.transaction(index)
    const { stored, gasBefore, firstLog } = this.#receipts.receipt(index)
    return { ...placed, receipt: deriveReceipt(stored, gasBefore, placed.transaction, this.#prices), firstLog }
  }

  transactionHash(index: number): Hex {
    return this.#body.transactionHash(index)
  }

  /** Finds the logs that match, at most `limit`, and decodes none. `wanted`: ascending indexes of those that may match. */
  *logs(criteria: LogCriteria, limit: number, wanted?: readonly number[]): SlicedWork<EncodedLogs> {
    const logs: EncodedLog[] = []
    const row = this.#receipts.bytes
    const choice = { wanted, bytes: soleItem(criteria) }
    yield* this.#receipts.walkLogs(log => !matchesEncoded(criteria, row, log) || logs.push(log) < limit, choice)
    return new EncodedLogs(this.#header, this.#body, row, logs)
  }

  /** Yields the receipts in order, each decoded while it is read. */
  *receiptStream(): Generator<StreamedReceipt> {
    let index = 0
    let gasBefore = 0n
    for (const { stored, firstLog, logs } of this.#receipts.inOrder()) {
      const placed = this.transaction(index++)
      const receipt = deriveOutcome(stored, gasBefore, placed.transaction, this.#prices)
      gasBefore = stored.cumulativeGasUsed
      const bloom = new GrowingBloom()
      yield { ...placed, receipt, firstLog, logs: countedIn(bloom, logs), bloom: () => bloom.bytes }
    }
  }
}

/** Logs of a block, undecoded, ascending. */
export class EncodedLogs {
  /** Bytes that the offsets of the logs point into. */
  readonly row: Uint8Array
  readonly logs: readonly EncodedLog[]
  readonly place: Pick<LogEntry, 'blockNumber' | 'blockTimestamp' | 'blockHash'>
  readonly count: number
  readonly dataBytes: number
  readonly #body: BodyRow

  constructor(header: Header, body: BodyRow, row: Uint8Array, logs: readonly EncodedLog[]) {
    this.row = row
    this.logs = logs
    this.count = logs.length
    this.dataBytes = logs.reduce((sum, { data, end }) => sum + end - data, 0)
    this.place = { blockNumber: header.number, blockTimestamp: header.timestamp, blockHash: body.blockHash }
    this.#body = body
  }

  transactionHash(index: number): Uint8Array {
    return this.#body.hashBytes(index)
  }

  entries(): LogEntry[] {
    return this.logs.map(log => {
      const { transactionIndex, logIndex } = log
      const transactionHash = this.#body.transactionHash(transactionIndex)
      return { ...decodeLog(this.row, log), ...this.place, transactionHash, transactionIndex, logIndex }
    })
  }
}

function* countedIn(bloom: GrowingBloom, logs: Iterable<Log>): Generator<Log> {
  for (const log of logs) {
    bloom.add(log)
    yield log
  }
}

/** Yields the tip paid by each transaction of a decoded block. */
export function* tipsPaid({ header, transactions }: Block, receipts: readonly Receipt[]): Generator<TipShare> {
  const baseFeePerGas = header.baseFeePerGas ?? 0n
  for (const [index, transaction] of transactions.entries())
    yield { tip: effectiveTip(transaction, baseFeePerGas), gas: receipts[index]?.gasUsed ?? 0n }
}

/** Sums the gas by tip, lowest tip first. Runs in time slices: a block has thousands of transactions. */
export const sumTips = async (paid: Iterable<TipShare>): Promise<readonly TipShare[]> => {
  const gasOf = new Map<bigint, bigint>()
  for (const { tip, gas } of paid) {
    gasOf.set(tip, (gasOf.get(tip) ?? 0n) + gas)
    const pause = sliceOver()
    if (pause !== undefined) await pause
  }
  return [...gasOf].map(([tip, gas]) => ({ tip, gas })).sort((a, b) => (a.tip < b.tip ? -1 : 1))
}
