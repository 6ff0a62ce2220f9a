import { assert } from '@tandem/base/assert.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { encodedBloom } from '../../primitives/header.ts'
import { bloomBits, bloomHas, EMPTY_BLOOM } from '../../primitives/receipt/bloom.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey, readNumber } from '../../storage/keys.ts'
import type { Snapshot, Store } from '../../storage/store.ts'
import type { LogQuery } from '../types.ts'
import { ADDRESS_BYTES, itemsOf, TOPIC_BYTES } from './log-criteria.ts'
import {
  blockOf,
  EVERY_ITEM,
  itemHash,
  type LogRange,
  logOf,
  Postings,
  placeOf,
  postingsKey,
  readLogIndex,
} from './log-index.ts'

/** Block that may hold logs that match. */
export interface LogCandidate {
  readonly number: number
  /** Ascending indexes of these logs; undefined: any. */
  readonly wanted?: readonly number[]
}

interface Search {
  readonly store: Store
  readonly query: LogQuery
  /** Called regularly; it may throw to end the search. */
  readonly tick: () => void
  readonly snapshot: Snapshot
}

/**
 * Yields the blocks that may match, ascending: from the index where there is one, from the blooms of the headers elsewhere. `tick` is called
 * regularly while nothing matches; it may throw to end the search.
 */
export async function* candidateBlocks(store: Store, query: LogQuery, tick: () => void): AsyncGenerator<LogCandidate> {
  const snapshot = store.snapshot()
  const search = { store, query, tick, snapshot }
  try {
    let next = query.fromBlock
    for (const range of readLogIndex(store, snapshot).ranges) {
      if (range.to < next || range.from > query.toBlock) continue
      if (next < range.from) yield* byBloom(search, next, range.from - 1)
      yield* byIndex(search, range, Math.max(next, range.from))
      next = range.to + 1
    }
    if (next <= query.toBlock) yield* byBloom(search, next, query.toBlock)
  } finally {
    await snapshot.close()
  }
}

/** Returns the hashes of the items of each list that restricts anything. */
const itemsPerList = ({ addresses, topics }: LogQuery): Uint8Array[][] =>
  [addresses, ...topics].flatMap((list, kind) => {
    const width = kind === 0 ? ADDRESS_BYTES : TOPIC_BYTES
    const count = list.byteLength / width
    if (count === 0) return []
    return [Array.from({ length: count }, (_, at) => itemHash(kind, list.subarray(at * width, (at + 1) * width)))]
  })

async function* byBloom(
  { store, query, tick, snapshot }: Search,
  from: number,
  to: number,
): AsyncGenerator<LogCandidate> {
  const { addresses, topics } = query
  const wanted = [itemsOf(addresses, ADDRESS_BYTES), ...topics.map(list => itemsOf(list, TOPIC_BYTES))]
    .filter(items => items.length > 0)
    .map(items => items.map(bloomBits))
  const isEmpty = (bloom: Uint8Array) => Buffer.compare(bloom, EMPTY_BLOOM) === 0
  for await (const rows of store.chunks(BUCKETS.header, { gte: numberKey(from), lte: numberKey(to), snapshot })) {
    tick()
    for (const [key, header] of rows) {
      const bloom = encodedBloom(header)
      if (!isEmpty(bloom) && wanted.every(items => items.some(bits => bloomHas(bloom, bits))))
        yield { number: readNumber(key) }
    }
  }
}

async function* byIndex(search: Search, range: LogRange, from: number): AsyncGenerator<LogCandidate> {
  const items = itemsPerList(search.query)
  const isEvery = items.length === 0
  const unions: Union[] = []
  for (const hashes of isEvery ? [[EVERY_ITEM]] : items) {
    const union = await openUnion(search, range, hashes)
    if (union.length === 0) return
    unions.push(union)
  }
  const end = placeOf(Math.min(range.to, search.query.toBlock) + 1, 0)
  let number = -1
  let wanted: number[] = []
  for await (const place of commonPlaces(unions, placeOf(from, 0), end, search.tick)) {
    if (blockOf(place) !== number) {
      if (wanted.length > 0) yield isEvery ? { number } : { number, wanted }
      number = blockOf(place)
      wanted = []
    }
    wanted.push(logOf(place))
  }
  if (wanted.length > 0) yield isEvery ? { number } : { number, wanted }
}

/** Lists of which a log needs one. */
type Union = readonly Postings[]

/** Keys read at once. */
const READ_KEYS = 256

/** Opens those lists of a range that there are. */
const openUnion = async (
  { store, snapshot, tick }: Search,
  { id, from }: LogRange,
  hashes: readonly Uint8Array[],
): Promise<Union> => {
  const union: Postings[] = []
  for (let at = 0; at < hashes.length; at += READ_KEYS) {
    tick()
    const some = hashes.slice(at, at + READ_KEYS)
    const rows = await store.getMany(
      BUCKETS.logPostings,
      some.map(hash => postingsKey(id, hash)),
      snapshot,
    )
    for (const [index, row] of rows.entries()) {
      if (row === undefined) continue
      const load = async (ordinal: number): Promise<Uint8Array> => {
        const more = await store.get(BUCKETS.logPostings, postingsKey(id, some[index] as Uint8Array, ordinal), snapshot)
        assert(more !== undefined, 'a list of the log index is whole')
        return more
      }
      union.push(new Postings(row, from, load))
    }
  }
  return union
}

/** Steps between two looks at the time. */
const STEPS = 64

/** Yields the places from `start` to before `end` that a list of each union has: each moves to where the farthest one is. */
async function* commonPlaces(
  unions: readonly Union[],
  start: number,
  end: number,
  tick: () => void,
): AsyncGenerator<number> {
  let target = start
  for (let step = 1; ; step++) {
    const first = await lowest(unions[0] as Union, target)
    let farthest = first
    for (const union of unions.slice(1)) farthest = Math.max(farthest, await lowest(union, farthest))
    if (farthest >= end) return
    if (farthest === first) yield first
    target = farthest === first ? first + 1 : farthest
    if (step % STEPS !== 0) continue
    tick()
    await sliceOver()
  }
}

/** Returns the first place of a union at or behind `target`. */
const lowest = async (union: Union, target: number): Promise<number> => {
  let place = Number.POSITIVE_INFINITY
  for (const list of union) {
    const wait = list.at < target ? list.seek(target) : undefined
    if (wait !== undefined) await wait
    place = Math.min(place, list.at)
  }
  return place
}
