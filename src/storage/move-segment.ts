import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory } from '@tandem/base/fs/fsync.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import { STORAGE_LIMITS } from '../config/limits/storage.ts'
import type { Batch } from './batch.ts'
import { BUCKETS, SEGMENT_BUCKETS } from './buckets.ts'
import { NUMBER_BYTES, numberKey, writeNumber } from './keys.ts'
import {
  checkSegment,
  decodeMoved,
  IDENTITY_ROW,
  MOVED_ROW,
  type MovedBlocks,
  type SegmentRow,
  segmentHeader,
  segmentPath,
  segmentPlace,
  writeSegment,
} from './segments.ts'
import type { Store } from './store.ts'

export const readMoved = (store: Store): MovedBlocks => decodeMoved(store.getSync(BUCKETS.meta, MOVED_ROW))

export const putMoved = (batch: Batch, { moved, cleared, dropped }: MovedBlocks): Batch => {
  const row = new Uint8Array(3 * NUMBER_BYTES)
  for (const [index, number] of [moved, cleared, dropped].entries()) writeNumber(row, index * NUMBER_BYTES, number)
  return batch.put(BUCKETS.meta, MOVED_ROW, row)
}

/**
 * Moves the rows of the next segment to its file. The file is synced and read back before the row that names it, which is synced before its
 * rows are deleted. A failure before that leaves all as it was, but for a file that the next attempt replaces. `isOver` ends the work early.
 */
export const moveSegment = async (store: Store, isOver: () => boolean = () => false): Promise<void> => {
  const { moved, cleared, dropped } = readMoved(store)
  const folder = store.segmentFolder
  makeFolder(folder)
  const temporary = join(folder, TEMPORARY)
  const header = segmentHeader(store.getSync(BUCKETS.meta, IDENTITY_ROW), moved)
  try {
    {
      await using file = await open(temporary, 'w', 0o600)
      await writeSegment(file, header, rowsFrom(store, moved, isOver))
    }
    await checkSegment(temporary, header, true)
    await rename(temporary, segmentPath(folder, moved))
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncDirectory(folder)
  await store.flush()
  await putMoved(store.batch(), { moved: moved + store.segmentBlocks, cleared, dropped }).write()
  await clearMoved(store)
}

const TEMPORARY = 'next'

/** Deletes the rows that are in segments. */
export const clearMoved = async (store: Store): Promise<void> => {
  const { moved, cleared, dropped } = readMoved(store)
  if (moved === cleared) return
  const range = { gte: numberKey(cleared), lt: numberKey(moved) }
  for (const bucket of SEGMENT_BUCKETS) await store.clear(bucket, range)
  await store.flush()
  await freeDeleted(store, SEGMENT_BUCKETS, cleared, moved)
  await putMoved(store.batch(), { moved, cleared: moved, dropped }).write()
}

/** Segments whose deleted rows are freed at once: whatever its range, a compaction writes the database's upper levels anew, some 30 MB. */
const FREED_SEGMENTS = 8

/** Frees the disk of rows that are deleted up to `to`, and were before up to `from`, when that ends a group of segments. */
export const freeDeleted = async (store: Store, buckets: readonly number[], from: number, to: number) => {
  const blocks = FREED_SEGMENTS * store.segmentBlocks
  const [first, end] = [from - (from % blocks), to - (to % blocks)]
  if (first === end) return
  for (const bucket of buckets) await store.compact(bucket, { gte: numberKey(first), lt: numberKey(end) })
}

async function* rowsFrom(store: Store, first: number, isOver: () => boolean): AsyncGenerator<SegmentRow> {
  const range = { gte: numberKey(first), lt: numberKey(first + store.segmentBlocks) }
  for (const bucket of SEGMENT_BUCKETS)
    for await (const rows of store.chunks(bucket, range, STORAGE_LIMITS.frameRows)) {
      if (isOver()) throw new Error('the store closes')
      for (const [key, value] of rows) yield { bucket, ...segmentPlace(key, store.segmentBlocks), value }
    }
}

/** Checks that the file of every segment is whole and of this chain; every byte of them with `isDeep`. Throws STORE_CORRUPT with the file's path. */
export const checkSegments = async (store: Store, isDeep = false): Promise<void> => {
  const { moved, dropped } = readMoved(store)
  const identity = store.getSync(BUCKETS.meta, IDENTITY_ROW)
  for (let first = dropped; first < moved; first += store.segmentBlocks)
    await checkSegment(segmentPath(store.segmentFolder, first), segmentHeader(identity, first), isDeep)
}
