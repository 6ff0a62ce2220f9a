import type { Snapshot as LevelSnapshot } from 'classic-level'
import { STORAGE_LIMITS } from '../config/limits/storage.ts'
import { afterPrefix } from './keys.ts'

/** Prefixed keys in one reused array per length, for synchronous calls: an asynchronous call must own its key. */
export class ScratchKeys {
  readonly #byLength: Uint8Array[] = []

  of(bucket: number, key: Uint8Array): Uint8Array {
    const length = key.byteLength + 1
    let scratch = this.#byLength[length]
    if (scratch === undefined) {
      scratch = new Uint8Array(length)
      // Keys are short; a long one is not cached.
      if (length <= 128) this.#byLength[length] = scratch
    }
    scratch[0] = bucket
    scratch.set(key, 1)
    return scratch
  }
}

/** Returns a prefixed key in a new array. */
export const prefixedKey = (bucket: number, key: Uint8Array): Uint8Array => {
  const out = new Uint8Array(key.byteLength + 1)
  out[0] = bucket
  out.set(key, 1)
  return out
}

/** The store at one moment. Must be closed: an open snapshot keeps old rows on disk. */
export type Snapshot = LevelSnapshot

/** Keys of one bucket; bounds are without the bucket's byte. `prefix` excludes the other bounds. */
export interface Range {
  readonly gte?: Uint8Array
  readonly gt?: Uint8Array
  readonly lt?: Uint8Array
  readonly lte?: Uint8Array
  readonly prefix?: Uint8Array
  readonly reverse?: boolean
  readonly limit?: number
  readonly snapshot?: Snapshot
}

/** Range in LevelDB's own terms: keys with the bucket's byte, -1 for no limit. */
export interface Bounds extends Omit<Range, 'prefix'> {
  readonly reverse: boolean
  readonly limit: number
}

export const boundsFromRange = (bucket: number, range: Range): Bounds => {
  const options = {
    reverse: range.reverse ?? false,
    limit: range.limit ?? -1,
    ...(range.snapshot && { snapshot: range.snapshot }),
  }
  const bucketEnd = Uint8Array.of(bucket + 1)
  if (range.prefix !== undefined) {
    const prefix = prefixedKey(bucket, range.prefix)
    return { ...options, gte: prefix, lt: afterPrefix(prefix) ?? bucketEnd }
  }
  return {
    ...options,
    ...(range.gt === undefined
      ? { gte: range.gte === undefined ? Uint8Array.of(bucket) : prefixedKey(bucket, range.gte) }
      : { gt: prefixedKey(bucket, range.gt) }),
    ...(range.lte === undefined
      ? { lt: range.lt === undefined ? bucketEnd : prefixedKey(bucket, range.lt) }
      : { lte: prefixedKey(bucket, range.lte) }),
  }
}

/** Common interface of LevelDB's iterators over entries and over keys. */
interface Rows<Row> {
  nextv(size: number): Promise<Row[]>
  seek(key: Uint8Array): void
  close(): Promise<void>
}

type EntryOrKey = Uint8Array | readonly Uint8Array[]

export interface Scan<Row> {
  readonly open: (bounds: Bounds & typeof PIECE) => Rows<Row>
  /** Returns the key with the bucket's byte. */
  readonly keyOf: (row: Row) => Uint8Array
  /** Maximum number of rows of a piece. */
  readonly size: number
}

/**
 * Rows of the first piece. An iterator allocates 64 bytes for each row it is asked for, which it keeps until its JavaScript object is
 * collected, and the collector does not know of it: thousands of scans that find next to nothing must not ask for a thousand rows each.
 */
const FIRST_ROWS = 16
/** Bytes of rows that a closed iterator may keep: to let them go costs a round trip. */
const KEPT_BYTES = 32 * 1024
const BEHIND_TABLES = Uint8Array.of(255)
/** Growth of the pieces of a long scan. */
const GROWTH = 8

const PIECE = { highWaterMarkBytes: STORAGE_LIMITS.scanBytes }

/**
 * Yields the rows of a range in pieces. No iterator stays open between two pieces, since an open one keeps every table that compaction
 * replaces, on disk and in memory, until long after it is closed: `bounds` need a snapshot if the pieces must be consistent.
 */
export async function* scan<Row extends EntryOrKey>(
  bounds: Bounds,
  { open, keyOf, size }: Scan<Row>,
): AsyncGenerator<Row[]> {
  let rest = bounds
  for (let wanted = FIRST_ROWS; ; wanted *= GROWTH) {
    const pieceRows = Math.min(size, wanted)
    const most = rest.limit === -1 ? pieceRows : Math.min(pieceRows, rest.limit)
    const { rows, isLast } = await readPiece(open({ ...rest, ...PIECE }), most)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    if (isLast || rows.length === rest.limit) return
    rest = after(rest, keyOf(last), rows.length)
  }
}

const readPiece = async <Row extends EntryOrKey>(iterator: Rows<Row>, size: number) => {
  try {
    const rows = await iterator.nextv(size)
    // Fewer rows are either the last ones or the most bytes a piece may hold; the open iterator knows without another seek.
    const more = rows.length === size ? [] : await iterator.nextv(1)
    // It keeps the rows it read last, too, until it is collected: behind the last table it reads none.
    if ([...rows, ...more].flat().reduce((sum, part) => sum + part.byteLength, 0) > KEPT_BYTES) {
      iterator.seek(BEHIND_TABLES)
      await iterator.nextv(1)
    }
    return { rows: [...rows, ...more], isLast: rows.length < size && more.length === 0 }
  } finally {
    await iterator.close()
  }
}

const after = ({ gte, gt, lt, lte, ...rest }: Bounds, key: Uint8Array, count: number): Bounds => {
  const limit = rest.limit === -1 ? -1 : rest.limit - count
  return rest.reverse
    ? { ...rest, limit, lt: key, ...(gt ? { gt } : gte && { gte }) }
    : { ...rest, limit, gt: key, ...(lte ? { lte } : lt && { lt }) }
}
