import { bloomBits, bloomHas } from '../primitives/bloom.ts'
import type { Log } from '../primitives/log.ts'
import type { Receipt } from '../primitives/receipt.ts'
import type { Batch } from '../storage/batch.ts'
import { BUCKETS } from '../storage/buckets.ts'
import { keyAndNumber, numberKey, readNumber } from '../storage/keys.ts'
import type { Snapshot, Store } from '../storage/store.ts'
import { type Hex, hexToBytes } from '../util/bytes.ts'
import type { LogQuery } from './types.ts'

/**
 * Two tables, with rows only for blocks that hold logs, so that a long empty range costs one seek: the block's bloom by
 * number, and (address, number) for each address that logged. A query by address walks the second, any other the first.
 */
export const putLogIndex = (
  batch: Batch,
  number: number,
  logsBloom: Uint8Array,
  receipts: readonly Receipt[],
): void => {
  const addresses = new Set<Hex>()
  for (const receipt of receipts) for (const log of receipt.logs) addresses.add(log.address)
  if (addresses.size === 0) return
  batch.put(BUCKETS.logBloom, numberKey(number), logsBloom)
  for (const address of addresses) batch.put(BUCKETS.logAddress, keyAndNumber(hexToBytes(address), number), PRESENT)
}
/** Queues the removal of a block's rows. */
export const removeLogIndex = (batch: Batch, number: number, logs: readonly (readonly Log[])[]): void => {
  batch.del(BUCKETS.logBloom, numberKey(number))
  for (const list of logs)
    for (const { address } of list) batch.del(BUCKETS.logAddress, keyAndNumber(hexToBytes(address), number))
}
const PRESENT = Uint8Array.of(1)

/** Numbers of the blocks that may match, ascending. `tick` is called now and then while nothing does; it may throw to end the search. */
export async function* candidateBlocks(
  store: Store,
  query: LogQuery,
  tick: () => void,
  snapshot?: Snapshot,
): AsyncGenerator<number> {
  if (query.addresses.length > 0) yield* byAddress(store, query, snapshot)
  else yield* byBloom(store, query, tick, snapshot)
}

async function* byBloom(store: Store, query: LogQuery, tick: () => void, snapshot?: Snapshot): AsyncGenerator<number> {
  const wanted = query.topics.filter(isGiven).map(alternatives => alternatives.map(bloomBits))
  const range = withSnapshot({ gte: numberKey(query.fromBlock), lte: numberKey(query.toBlock) }, snapshot)
  for await (const rows of store.chunks(BUCKETS.logBloom, range)) {
    tick()
    for (const [key, bloom] of rows) {
      if (wanted.every(topics => topics.some(bits => bloomHas(bloom, bits)))) yield readNumber(key)
    }
  }
}

/** The union of one ascending walk per address. */
async function* byAddress(store: Store, query: LogQuery, snapshot?: Snapshot): AsyncGenerator<number> {
  const walks = await Promise.all(
    [...new Set(query.addresses)].map(async address => {
      const key = hexToBytes(address)
      const range = { gte: keyAndNumber(key, query.fromBlock), lte: keyAndNumber(key, query.toBlock) }
      const keys = store.keys(BUCKETS.logAddress, withSnapshot(range, snapshot))
      return { keys, next: await keys.next() }
    }),
  )
  try {
    for (;;) {
      let lowest = Number.POSITIVE_INFINITY
      for (const { next } of walks) if (!next.done) lowest = Math.min(lowest, readNumber(next.value, ADDRESS_BYTES))
      if (lowest === Number.POSITIVE_INFINITY) return
      yield lowest
      for (const walk of walks) {
        if (!walk.next.done && readNumber(walk.next.value, ADDRESS_BYTES) === lowest) walk.next = await walk.keys.next()
      }
    }
  } finally {
    await Promise.all(walks.map(walk => walk.keys.return(undefined)))
  }
}
const ADDRESS_BYTES = 20

const isGiven = (alternatives: readonly Hex[] | null): alternatives is readonly Hex[] =>
  alternatives !== null && alternatives.length > 0

const withSnapshot = <R extends object>(range: R, snapshot: Snapshot | undefined): R & { snapshot?: Snapshot } =>
  snapshot === undefined ? range : { ...range, snapshot }
