import { assert } from '@tandem/base/assert.ts'
import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { asBuffer } from '@tandem/base/bytes.ts'
import { type EncodedLog, readEncodedLog, readLogsInOrder } from '../../primitives/receipt/log.ts'
import { readCumulativeGas, readStoredOutcome, readStoredReceipt } from '../../primitives/receipt/receipt.ts'
import { RlpCursor } from '../../primitives/rlp/rlp-cursor.ts'

/** Logs that may be meant: of the ascending block-wide indexes `wanted`, and with the bytes of an address or a topic. */
interface LogChoice {
  readonly wanted?: readonly number[] | undefined
  readonly bytes?: Uint8Array | undefined
}

/** Logs of one part of `walkLogs`. */
const PART_LOGS = 256

/** Logs after which it is known whether most hold the wanted bytes. */
const TRIED_LOGS = 16

/** Reads single receipts of a stored row (`encodeStoredReceipts`) without decoding the others; the first read scans for their offsets. */
export class ReceiptsRow {
  /** Data of logs are views of this array, so it is a plain Uint8Array whatever the database returns. */
  readonly bytes: Uint8Array
  readonly #count: number
  #index: { readonly starts: Uint32Array; readonly firstLogs: Uint32Array } | undefined

  /** `count`: number of the block's transactions. */
  constructor(row: Uint8Array, count: number) {
    this.bytes = new Uint8Array(row.buffer, row.byteOffset, row.byteLength)
    this.#count = count
  }

  get byteLength(): number {
    return this.bytes.byteLength + 8 * this.#count
  }

  /** Returns a stored receipt, the gas of the transactions before it, and the block-wide index of its first log. */
  receipt(index: number) {
    const cursor = this.#cursorAt(index)
    return {
      stored: readStoredReceipt(cursor),
      gasBefore: index === 0 ? 0n : this.gasUpTo(index - 1),
      firstLog: this.#index?.firstLogs[index] as number,
    }
  }

  /** Yields all receipts in order, each decoded while it is read: its logs once and to the end, before the next receipt is. */
  *inOrder() {
    const cursor = new RlpCursor(this.bytes)
    const outer = cursor.openList()
    let firstLog = 0
    for (let index = 0; index < this.#count; index++) {
      const receipt = cursor.openList()
      const stored = readStoredOutcome(cursor)
      let count = 0
      const logs = (function* () {
        for (const log of readLogsInOrder(cursor)) {
          count++
          yield log
        }
      })()
      yield { stored, firstLog, logs }
      // Logs that the reader left out.
      while (!logs.next().done);
      firstLog += count
      cursor.closeList(receipt)
    }
    cursor.closeList(outer)
  }

  /** Passes the logs, undecoded, all or those that `choice` may mean, to `visit` until it returns false. */
  *walkLogs(visit: (log: EncodedLog) => boolean, { wanted, bytes }: LogChoice = {}): SlicedWork<void> {
    const row = asBuffer(this.bytes)
    const cursor = new RlpCursor(this.bytes)
    cursor.openList()
    let logIndex = 0
    let at = 0
    let needle = wanted === undefined ? bytes : undefined
    let found = -1
    let spared = 0
    for (let transactionIndex = 0; cursor.hasMore(); transactionIndex++) {
      const receipt = cursor.openList()
      cursor.skip()
      cursor.skip()
      const list = cursor.openList()
      for (; cursor.hasMore(); logIndex++) {
        if (logIndex % PART_LOGS === PART_LOGS - 1) yield
        if (wanted !== undefined) {
          if (at === wanted.length) return
          if (wanted[at] !== logIndex) {
            cursor.skip()
            continue
          }
          at++
        }
        const { position } = cursor
        const isSearched = needle !== undefined
        if (isSearched) {
          cursor.skip()
          if (found < position) found = row.indexOf(needle as Uint8Array, position)
          if (found === -1) return
          if (found >= cursor.position) {
            spared++
            continue
          }
          // Bytes that most logs hold spare too little.
          if (logIndex > TRIED_LOGS && spared * 2 < logIndex) needle = undefined
        }
        const from = isSearched ? new RlpCursor(this.bytes, position) : cursor
        if (!visit(readEncodedLog(from, transactionIndex, logIndex))) return
      }
      cursor.closeList(list)
      cursor.closeList(receipt)
    }
  }

  /** Returns the gas of the block's transactions up to and including this one. */
  gasUpTo(index: number): bigint {
    return readCumulativeGas(this.#cursorAt(index))
  }

  #cursorAt(index: number): RlpCursor {
    assert(index >= 0 && index < this.#count, 'receipt index inside the block')
    this.#index ??= this.#find()
    return new RlpCursor(this.bytes, this.#index.starts[index])
  }

  #find() {
    const [starts, firstLogs] = [new Uint32Array(this.#count), new Uint32Array(this.#count)]
    const cursor = new RlpCursor(this.bytes)
    const outer = cursor.openList()
    let logs = 0
    for (let i = 0; i < this.#count; i++) {
      starts[i] = cursor.position
      firstLogs[i] = logs
      logs += countLogs(cursor)
    }
    cursor.closeList(outer)
    return { starts, firstLogs }
  }
}

/** Skips a stored receipt and returns its number of logs. */
const countLogs = (cursor: RlpCursor): number => {
  const receipt = cursor.openList()
  cursor.skip()
  cursor.skip()
  let logs = 0
  const list = cursor.openList()
  for (; cursor.hasMore(); logs++) cursor.skip()
  cursor.closeList(list)
  cursor.closeList(receipt)
  return logs
}
