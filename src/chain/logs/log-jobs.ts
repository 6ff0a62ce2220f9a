import { runSlicedWork } from '@tandem/base/async/sliced-work.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { asBuffer } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { CHAIN_LIMITS } from '../../config/limits/chain.ts'
import { topicAt } from '../../primitives/receipt/log.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import type { Store, StoreEntry } from '../../storage/store.ts'
import { ADDRESS_BYTES, TOPIC_BYTES } from '../store/log-criteria.ts'
import {
  blockOf,
  EVERY_ITEM,
  itemHash,
  type LogRange,
  logOf,
  PostingsRow,
  PostingsWriter,
  postingsOf,
  readLogIndex,
  readPostingsKey,
} from '../store/log-index.ts'
import { receiptRows } from '../store/receipt-parts.ts'
import { ReceiptsRow } from '../store/receipts-row.ts'

/** Step of the index: rows of a new id from blocks, until there are enough places, rows of a new id from those of adjacent ranges, or the end of an id's rows. */
export type LogJob =
  | ({ readonly kind: 'index'; readonly places: number } & LogRange)
  | { readonly kind: 'merge'; readonly id: number; readonly ranges: readonly LogRange[] }
  | { readonly kind: 'drop'; readonly id: number }

/** Carries out a step in small batches; returns the last block that the rows cover. `isOver` ends it early. */
export const runLogJob = async (store: Store, job: LogJob, isOver: () => boolean): Promise<number> => {
  using rows = new RowWriter(store, isOver)
  if (job.kind === 'index') return await indexBlocks(store, job, rows)
  if (job.kind === 'merge') return await mergeRanges(store, job.id, job.ranges, rows)
  for await (const key of store.keys(BUCKETS.logPostings, { prefix: postingsOf(job.id) })) {
    rows.del(key)
    if (rows.isDue) await rows.write()
  }
  await rows.write()
  return 0
}

/** Writes rows in small batches, unsynced, and rests between two. */
class RowWriter {
  readonly #store: Store
  readonly #isOver: () => boolean
  #batch: Batch | undefined

  constructor(store: Store, isOver: () => boolean) {
    this.#store = store
    this.#isOver = isOver
  }

  get isDue(): boolean {
    return (this.#batch?.size ?? 0) >= CHAIN_LIMITS.logIndexBatch
  }

  readonly put = (key: Uint8Array, value: Uint8Array): void => {
    this.#batch ??= this.#store.batch()
    this.#batch.put(BUCKETS.logPostings, key, value)
  }

  del(key: Uint8Array): void {
    this.#batch ??= this.#store.batch()
    this.#batch.del(BUCKETS.logPostings, key)
  }

  async write(): Promise<void> {
    if (this.#isOver()) throw new Error('the log index ends')
    const batch = this.#batch
    this.#batch = undefined
    await batch?.write({ sync: false })
    await sliceOver()
  }

  [Symbol.dispose](): void {
    this.#batch?.[Symbol.dispose]()
  }
}

const indexBlocks = async (
  store: Store,
  { id, from, to, places: limit }: Extract<LogJob, { kind: 'index' }>,
  rows: RowWriter,
): Promise<number> => {
  const places = new Places()
  const last = await eachPlace(store, from, to, places, () => places.size >= limit)
  const writer = new PostingsWriter(id, from, rows.put)
  for (const _ of places.writeTo(writer)) if (rows.isDue) await rows.write()
  await rows.write()
  return last
}

interface PlaceReceiver {
  add(hash: Uint8Array, block: number, log: number): void
}

/** Passes the places of all items of blocks on, from their stored receipts, until it is full after a block; returns the last block. */
const eachPlace = async (
  store: Store,
  from: number,
  to: number,
  receiver: PlaceReceiver,
  isFull: () => boolean,
): Promise<number> => {
  for await (const { number, row } of receiptRows(store, from, to)) {
    const receipts = new ReceiptsRow(row, 0)
    const hashOf = (kind: number, at: number, size: number) => itemHash(kind, receipts.bytes.subarray(at, at + size))
    const work = receipts.walkLogs(log => {
      const { logIndex } = log
      if (logIndex === 0) receiver.add(EVERY_ITEM, number, 0)
      receiver.add(hashOf(0, log.address, ADDRESS_BYTES), number, logIndex)
      for (let position = 0; position < log.topicCount; position++)
        receiver.add(hashOf(1 + position, topicAt(log, position), TOPIC_BYTES), number, logIndex)
      return true
    })
    await runSlicedWork(work, sliceOver)
    if (isFull()) return number
  }
  return to
}

/** Places of items in the order of blocks, sorted by item at the end: two dozen bytes each, whatever their number. */
class Places implements PlaceReceiver {
  size = 0
  #columns: readonly Uint32Array[] = [0, 1, 2, 3].map(() => new Uint32Array(1_024))

  add(hash: Uint8Array, block: number, log: number): void {
    if (this.size === this.#columns[0]?.length) this.#grow()
    const values = [readWord(hash, 0), readWord(hash, 4), block, log]
    for (const [at, column] of this.#columns.entries()) column[this.size] = values[at] as number
    this.size++
  }

  #grow(): void {
    this.#columns = this.#columns.map(column => {
      const larger = new Uint32Array(2 * column.length)
      larger.set(column)
      return larger
    })
  }

  /** Writes the lists, ascending by the items' hashes; yields after each. */
  *writeTo(writer: PostingsWriter): Generator<undefined> {
    const [high, low, blocks, logs] = this.#columns as [Uint32Array, Uint32Array, Uint32Array, Uint32Array]
    // One sort of numbers: the first half of the hash, then the order of arrival.
    const order = new Float64Array(this.size)
    for (let i = 0; i < this.size; i++) order[i] = (high[i] as number) * ORDINALS + i
    order.sort()
    const hash = Buffer.alloc(8)
    for (let start = 0, end = 0; start < order.length; start = end) {
      const first = Math.floor((order[start] as number) / ORDINALS)
      while (end < order.length && Math.floor((order[end] as number) / ORDINALS) === first) end++
      const entries = Uint32Array.from(order.subarray(start, end), value => value % ORDINALS)
      // Entries of two items with the same half are told apart; the order of arrival stays.
      if (entries.length > 1) entries.sort((a, b) => (low[a] as number) - (low[b] as number))
      hash.writeUInt32BE(first)
      let second: number | undefined
      for (const entry of entries) {
        if (low[entry] !== second) {
          if (second !== undefined) {
            writer.end()
            yield
          }
          second = low[entry] as number
          hash.writeUInt32BE(second, 4)
          writer.begin(hash)
        }
        writer.add(blocks[entry] as number, logs[entry] as number)
      }
      writer.end()
      yield
    }
  }
}

/** More than there are places. */
const ORDINALS = 2 ** 21

const readWord = (bytes: Uint8Array, at: number): number =>
  (((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)) >>>
  0

const mergeRanges = async (store: Store, id: number, ranges: readonly LogRange[], rows: RowWriter): Promise<number> => {
  const writer = new PostingsWriter(id, (ranges[0] as LogRange).from, rows.put)
  const sources = await Promise.all(
    ranges.map(async range => {
      const entries = store.entries(BUCKETS.logPostings, { prefix: postingsOf(range.id) })
      return { range, entries, head: await nextRow(entries) }
    }),
  )
  try {
    for (;;) {
      const heads = sources.flatMap(({ head }) => head ?? [])
      if (heads.length === 0) break
      const least = heads.reduce((one, other) => (other.order < one.order ? other : one))
      writer.begin(least.hash)
      for (const source of sources) {
        while (source.head?.order === least.order) {
          for (const place of placesOf(source.head, source.range)) writer.add(blockOf(place), logOf(place))
          source.head = await nextRow(source.entries)
        }
      }
      writer.end()
      if (rows.isDue) await rows.write()
    }
  } finally {
    await Promise.all(sources.map(({ entries }) => entries.return(undefined)))
  }
  await rows.write()
  return (ranges.at(-1) as LogRange).to
}

interface IndexRow {
  readonly hash: Uint8Array
  /** The hash as a string, which compares faster. */
  readonly order: string
  readonly ordinal: number
  readonly value: Uint8Array
}

const nextRow = async (entries: AsyncGenerator<StoreEntry>): Promise<IndexRow | undefined> => {
  const next = await entries.next()
  if (next.done) return undefined
  const [key, value] = next.value
  const { hash, ordinal } = readPostingsKey(key)
  return { hash, ordinal, value, order: asBuffer(hash).toString('latin1') }
}

/** Yields the places of a row in the blocks of its range, of which a revert may have taken some. */
function* placesOf({ ordinal, value }: Pick<IndexRow, 'ordinal' | 'value'>, { from, to }: LogRange): Generator<number> {
  const row = new PostingsRow(value, ordinal, from)
  for (let place = row.next(); place !== undefined && blockOf(place) <= to; place = row.next()) yield place
}

/** Compares the index with the stored receipts, by a sum over the places of each range. Calls `tell` with a block and a problem. */
export const verifyLogIndex = async (
  store: Store,
  { earliest, head }: { readonly earliest: number; readonly head: number },
  tell: (number: number, problem: string) => void,
): Promise<void> => {
  let after = 0
  for (const range of readLogIndex(store).ranges) {
    const { id, from, to } = range
    const name = `log index of blocks ${from} to ${to}`
    if (from < after || to < from || to > head) tell(head, `${name} overlaps another or ends above the head`)
    after = to + 1
    const [expected, found] = [new PlaceSum(), new PlaceSum()]
    await eachPlace(store, Math.max(from, earliest), to, expected, () => false)
    try {
      for await (const [key, value] of store.entries(BUCKETS.logPostings, { prefix: postingsOf(id) })) {
        const { hash, ordinal } = readPostingsKey(key)
        for (const place of placesOf({ ordinal, value }, range))
          if (blockOf(place) >= earliest) found.add(hash, blockOf(place), logOf(place))
      }
    } catch (error) {
      if (isCoded(error)) throw error
      tell(from, `${name} cannot be read: ${(error as Error).message}`)
      continue
    }
    if (!found.equals(expected)) tell(from, `${name} is not that of their logs`)
  }
}

/** Sum over places in any order: two that differ are of different places, but for one in 2^64. */
class PlaceSum implements PlaceReceiver {
  #count = 0
  #sums: readonly [number, number] = [0, 0]

  add(hash: Uint8Array, block: number, log: number): void {
    const words = [readWord(hash, 0), readWord(hash, 4), block, log]
    this.#count++
    this.#sums = [(this.#sums[0] + mixed(words, 1)) | 0, (this.#sums[1] + mixed(words, 2)) | 0]
  }

  equals(other: PlaceSum): boolean {
    return this.#count === other.#count && this.#sums.every((sum, at) => sum === other.#sums[at])
  }
}

/** Mixes words as MurmurHash3 does. */
const mixed = (words: readonly number[], seed: number): number => {
  let hash = seed
  for (const word of words) {
    hash = Math.imul(hash ^ word, 0x85eb_ca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
    hash ^= hash >>> 16
  }
  return hash
}
