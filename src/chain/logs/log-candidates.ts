import { assert } from '@tandem/base/assert.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { encodedBloom } from '../../primitives/header.ts'
import { bloomBits, bloomHas, EMPTY_BLOOM } from '../../primitives/receipt/bloom.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey, readNumber } from '../../storage/keys.ts'
import type { Snapshot, Store } from '../../storage/store.ts'
import { ADDRESS_BYTES, itemsOf, TOPIC_BYTES } from '../store/log-criteria.ts'
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
} from '../store/log-index.ts'
import type { LogQuery } from '../store/types.ts'

/** Block that may hold logs that match. */
export interface LogCandidate {
  readonly number: number
  /** Ascending indexes of these logs; undefined: any. */
  readonly wanted?: readonly number[]
}

interface Search {
  readonly store: Store
  readonly query: LogQuery
  /** Lists of the query that restrict anything. */
  readonly lists: readonly ItemList[]
  /** Called regularly; it may throw to end the search. */
  readonly tick: () => void
  readonly snapshot: Snapshot
}

/** Yields blocks that may match, ascending, from the index or headers' blooms. `tick` is called regularly; it may throw to end. */
export async function* candidateBlocks(store: Store, query: LogQuery, tick: () => void): AsyncGenerator<LogCandidate> {
  await using snapshot = store.snapshot()
  const lists = [query.addresses, ...query.topics].map((list, kind) => new ItemList(kind, list))
  const search = { store, query, lists: lists.filter(({ count }) => count > 0), tick, snapshot }
  let next = query.fromBlock
  for (const range of readLogIndex(store, snapshot).ranges) {
    if (range.to < next || range.from > query.toBlock) continue
    if (next < range.from) yield* byBloom(search, next, range.from - 1)
    yield* byIndex(search, range, Math.max(next, range.from))
    next = range.to + 1
  }
  if (next <= query.toBlock) yield* byBloom(search, next, query.toBlock)
}

/** Longer lists are not compared with blooms: a body has room for a hundred thousand addresses. */
const BLOOM_ITEMS = 1_024

/** Addresses, or topics at a position, of which a log needs one. */
class ItemList {
  readonly count: number
  readonly #kind: number
  readonly #items: Uint8Array
  readonly #width: number
  /** Hashes of the first items, made when they are first read. */
  readonly #hashes: Uint8Array[] = []

  constructor(kind: number, items: Uint8Array) {
    this.#kind = kind
    this.#items = items
    this.#width = kind === 0 ? ADDRESS_BYTES : TOPIC_BYTES
    this.count = items.byteLength / this.#width
  }

  /** Returns the hashes of some items. */
  hashes(from: number, to: number): readonly Uint8Array[] {
    for (let at = this.#hashes.length; at < Math.min(to, this.count); at++)
      this.#hashes.push(itemHash(this.#kind, this.#items.subarray(at * this.#width, (at + 1) * this.#width)))
    return this.#hashes.slice(from, to)
  }

  bloomTest(): (bloom: Uint8Array) => boolean {
    if (this.count > BLOOM_ITEMS) return () => true
    const bits = itemsOf(this.#items, this.#width).map(bloomBits)
    return bloom => bits.some(item => bloomHas(bloom, item))
  }
}

const EVERY_LIST = { count: 1, hashes: () => [EVERY_ITEM] }

async function* byBloom(
  { store, lists, tick, snapshot }: Search,
  from: number,
  to: number,
): AsyncGenerator<LogCandidate> {
  const tests = lists.map(list => list.bloomTest())
  const isEmpty = (bloom: Uint8Array) => Buffer.compare(bloom, EMPTY_BLOOM) === 0
  for await (const rows of store.chunks(BUCKETS.header, { gte: numberKey(from), lte: numberKey(to), snapshot })) {
    tick()
    for (const [key, header] of rows) {
      const bloom = encodedBloom(header)
      if (!isEmpty(bloom) && tests.every(test => test(bloom))) yield { number: readNumber(key) }
    }
  }
}

async function* byIndex(search: Search, range: LogRange, from: number): AsyncGenerator<LogCandidate> {
  const isEvery = search.lists.length === 0
  const unions: Union[] = []
  for (const list of isEvery ? [EVERY_LIST] : search.lists) {
    const union = await openUnion(search, range, list)
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
  list: Pick<ItemList, 'count' | 'hashes'>,
): Promise<Union> => {
  const union: Postings[] = []
  for (let at = 0; at < list.count; at += READ_KEYS) {
    tick()
    const some = list.hashes(at, at + READ_KEYS)
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

/** Lists moved between two looks at the time. */
const MOVES = 4_096

/** Yields the places from `start` to before `end` that a list of each union has: each moves to where the farthest one is. */
async function* commonPlaces(
  unions: readonly Union[],
  start: number,
  end: number,
  tick: () => void,
): AsyncGenerator<number> {
  let target = start
  const moves = unions.reduce((sum, union) => sum + union.length, 0)
  for (let moved = moves; ; moved += moves) {
    const first = await lowest(unions[0] as Union, target)
    let farthest = first
    for (const union of unions.slice(1)) farthest = Math.max(farthest, await lowest(union, farthest))
    if (farthest >= end) return
    if (farthest === first) yield first
    target = farthest === first ? first + 1 : farthest
    if (moved < MOVES) continue
    moved = 0
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
