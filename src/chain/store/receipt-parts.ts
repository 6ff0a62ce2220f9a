import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { freeBytes } from '@tandem/base/bytes.ts'
import { CHAIN_LIMITS } from '../../config/limits/chain.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { keyWithNumber, numberKey, readNumber } from '../../storage/keys.ts'
import { readMoved } from '../../storage/move-segment.ts'
import type { Snapshot, Store } from '../../storage/store.ts'

/*
 * Encoded receipts of a block, stored in parts of `receiptPartBytes`: the database hands over each value in one copy on the thread that
 * reads, and the receipts of one block may be 50 MB. The first part is the row of the block; all but the last one are full.
 */

const PART_BYTES = CHAIN_LIMITS.receiptPartBytes

const partKey = (number: number, part: number): Uint8Array => keyWithNumber(numberKey(number), part)

/** Adds the encoded receipts of a block to the batch, one stored part in a part of the work. */
export function* putReceipts(batch: Batch, number: number, row: Uint8Array): SlicedWork<void> {
  batch.put(BUCKETS.receipts, numberKey(number), row.subarray(0, PART_BYTES))
  for (let part = 1; part * PART_BYTES < row.byteLength; part++) {
    yield
    batch.put(BUCKETS.receiptPart, partKey(number, part), row.subarray(part * PART_BYTES, (part + 1) * PART_BYTES))
  }
}

/** Returns the encoded receipts of a block; undefined when it is not stored. */
export const readReceipts = async (
  store: Store,
  number: number,
  snapshot?: Snapshot,
): Promise<Uint8Array | undefined> => {
  let part = await store.get(BUCKETS.receipts, numberKey(number), snapshot)
  if (part === undefined || part.byteLength < PART_BYTES) return part
  const parts = [part]
  while (part?.byteLength === PART_BYTES) {
    await sliceOver()
    part = await store.get(BUCKETS.receiptPart, partKey(number, parts.length), snapshot)
    if (part !== undefined) parts.push(part)
  }
  return joined(parts)
}

/** Yields the encoded receipts of stored blocks in order, those of tables read many at a time. */
export async function* receiptRows(
  store: Store,
  from: number,
  to: number,
): AsyncGenerator<{ readonly number: number; readonly row: Uint8Array }> {
  let next = from
  /** Blocks that are not in tables are in segments, perhaps since the scan began, or have none: those from the mark on. */
  const fromSegments = async function* (end: number) {
    for (const last = Math.min(end, readMoved(store).moved); next < last; next++) {
      const row = await readReceipts(store, next)
      if (row !== undefined) yield { number: next, row }
    }
  }
  for await (const chunk of store.chunks(BUCKETS.receipts, { gte: numberKey(from), lte: numberKey(to) })) {
    for (const [key, part] of chunk) {
      const number = readNumber(key)
      yield* fromSegments(number)
      const row = part.byteLength === PART_BYTES ? await readReceipts(store, number) : part
      if (row !== undefined) yield { number, row }
      next = number + 1
    }
  }
  yield* fromSegments(to + 1)
}

/** Adds the removal of a block's receipts to the batch. */
export const removeReceipts = (batch: Batch, store: Store, number: number): void => {
  batch.del(BUCKETS.receipts, numberKey(number))
  for (let part = 1; store.getSync(BUCKETS.receiptPart, partKey(number, part)) !== undefined; part++)
    batch.del(BUCKETS.receiptPart, partKey(number, part))
}

const joined = async (parts: readonly Uint8Array[]): Promise<Uint8Array> => {
  const total = parts.reduce((bytes, part) => bytes + part.byteLength, 0)
  // Not zeroed at once: the system does so page by page, while it is written.
  const row = Buffer.allocUnsafeSlow(total)
  let at = 0
  for (const part of parts) {
    row.set(part, at)
    at += part.byteLength
    freeBytes(part)
    await sliceOver()
  }
  return row
}
