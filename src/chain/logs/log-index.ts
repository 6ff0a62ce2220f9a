import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { CHAIN_LIMITS } from '../../config/limits/chain.ts'
import { bloomBits, bloomHas } from '../../primitives/receipt/bloom.ts'
import type { Log } from '../../primitives/receipt/log.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { keyWithNumber, numberKey, readNumber } from '../../storage/keys.ts'
import type { Snapshot, Store } from '../../storage/store.ts'
import type { LogQuery } from '../types.ts'
import { ADDRESS_BYTES, itemsOf, TOPIC_BYTES } from './log-criteria.ts'

/**
 * Log index of two tables, with rows only for blocks that have logs, so that a long empty range costs one seek: the block's bloom by
 * number, and (address, number) for each logging address. A query by address scans the second table, any other the first.
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
  for (const address of addresses) batch.put(BUCKETS.logAddress, keyWithNumber(hexToBytes(address), number), PRESENT)
}
/** Adds the removal of a block's rows to the batch. */
export const removeLogIndex = (batch: Batch, number: number, logs: readonly (readonly Log[])[]): void => {
  batch.del(BUCKETS.logBloom, numberKey(number))
  for (const list of logs)
    for (const { address } of list) batch.del(BUCKETS.logAddress, keyWithNumber(hexToBytes(address), number))
}
const PRESENT = Uint8Array.of(1)

/**
 * Yields the numbers of blocks that may match, ascending. `tick` is called regularly while nothing matches; it may throw to end the
 * search.
 */
export async function* candidateBlocks(
  store: Store,
  query: LogQuery,
  tick: () => void,
  snapshot?: Snapshot,
): AsyncGenerator<number> {
  const addresses = query.addresses.byteLength / ADDRESS_BYTES
  if (addresses === 0) yield* byBloom(store, query, tick, snapshot)
  else if (addresses <= CHAIN_LIMITS.logWalks) yield* byAddress(store, query, snapshot)
  else yield* byManyAddresses(store, query, tick, snapshot)
}

async function* byBloom(store: Store, query: LogQuery, tick: () => void, snapshot?: Snapshot): AsyncGenerator<number> {
  const wanted = query.topics.filter(list => list.byteLength > 0).map(list => itemsOf(list, TOPIC_BYTES).map(bloomBits))
  const range = withSnapshot({ gte: numberKey(query.fromBlock), lte: numberKey(query.toBlock) }, snapshot)
  for await (const rows of store.chunks(BUCKETS.logBloom, range)) {
    tick()
    for (const [key, bloom] of rows) {
      if (wanted.every(topics => topics.some(bits => bloomHas(bloom, bits)))) yield readNumber(key)
    }
  }
}

/** Merges one ascending scan per address. */
async function* byAddress(store: Store, query: LogQuery, snapshot?: Snapshot): AsyncGenerator<number> {
  const walks = await Promise.all(
    addressesOf(query).map(async address => {
      const keys = blocksOf(store, address, query, snapshot)
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

type Span = Pick<LogQuery, 'fromBlock' | 'toBlock'>

const addressesOf = ({ addresses }: LogQuery): Uint8Array[] =>
  Array.from({ length: addresses.byteLength / ADDRESS_BYTES }, (_, index) =>
    addresses.subarray(index * ADDRESS_BYTES, (index + 1) * ADDRESS_BYTES),
  )

/** Returns the keys of the blocks in which an address logged. */
const blocksOf = (store: Store, address: Uint8Array, { fromBlock, toBlock }: Span, snapshot: Snapshot | undefined) =>
  store.keys(
    BUCKETS.logAddress,
    withSnapshot({ gte: keyWithNumber(address, fromBlock), lte: keyWithNumber(address, toBlock) }, snapshot),
  )

/**
 * For more addresses than scans may be open: processes the range in parts, each with one bit per block, a few addresses at a time. The
 * parts grow, so that a query that ends early has not scanned everything, and a complete one has few parts.
 */
async function* byManyAddresses(
  store: Store,
  query: LogQuery,
  tick: () => void,
  snapshot?: Snapshot,
): AsyncGenerator<number> {
  let width = FIRST_PART
  for (let fromBlock = query.fromBlock; fromBlock <= query.toBlock; ) {
    const part = { fromBlock, toBlock: Math.min(query.toBlock, fromBlock + width - 1) }
    const bits = await loggingBlocks(store, addressesOf(query), part, tick, snapshot)
    for (let at = 0; at < bits.byteLength * 8; at++) if (hasBit(bits, at)) yield fromBlock + at
    fromBlock = part.toBlock + 1
    width = Math.min(4 * width, LAST_PART)
  }
}
const FIRST_PART = 1_024
const LAST_PART = 2 ** 20

const hasBit = (bits: Uint8Array, at: number): boolean => ((bits[at >> 3] as number) & (1 << (at & 7))) !== 0

/** Returns a bit for each block of a part in which one of the addresses logged. */
const loggingBlocks = async (
  store: Store,
  addresses: readonly Uint8Array[],
  part: Span,
  tick: () => void,
  snapshot: Snapshot | undefined,
): Promise<Uint8Array> => {
  const bits = new Uint8Array(Math.ceil((part.toBlock - part.fromBlock + 1) / 8))
  const walk = async (address: Uint8Array): Promise<void> => {
    for await (const key of blocksOf(store, address, part, snapshot)) {
      const at = readNumber(key, ADDRESS_BYTES) - part.fromBlock
      bits[at >> 3] = (bits[at >> 3] as number) | (1 << (at & 7))
    }
  }
  for (let at = 0; at < addresses.length; at += CHAIN_LIMITS.logWalks) {
    tick()
    await Promise.all(addresses.slice(at, at + CHAIN_LIMITS.logWalks).map(walk))
  }
  return bits
}

const withSnapshot = <R extends object>(range: R, snapshot: Snapshot | undefined): R & { snapshot?: Snapshot } =>
  snapshot === undefined ? range : { ...range, snapshot }
