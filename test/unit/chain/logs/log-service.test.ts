import { MessageChannel } from 'node:worker_threads'
import { Cancellation, Cancelled } from '@tandem/base/async/cancellation.ts'
import { hexToBytes, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { expect, onTestFinished, test } from 'vitest'
import type { LogCandidate } from '../../../../src/chain/logs/log-candidates.ts'
import { runLogJob } from '../../../../src/chain/logs/log-jobs.ts'
import { matchingLogs, queryLogs } from '../../../../src/chain/logs/log-query.ts'
import { LogService } from '../../../../src/chain/logs/log-service.ts'
import { BlockStore } from '../../../../src/chain/store/block-store.ts'
import { EVERY_LOG, packCriteria } from '../../../../src/chain/store/log-criteria.ts'
import { putLogIndex } from '../../../../src/chain/store/log-index.ts'
import { CHAIN_LIMITS } from '../../../../src/config/limits/chain.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import { numberKey } from '../../../../src/storage/keys.ts'
import { moveSegment } from '../../../../src/storage/move-segment.ts'
import { Store } from '../../../../src/storage/store.ts'
import { ACCOUNT_KEYS, signedRaw, withChain } from '../../../support/chain.ts'
import { putLoggedBlock } from '../../../support/logged-chain.ts'
import { eventually } from '../../../support/node-process.ts'
import { temporaryStore } from '../../storage/temp-store.ts'

const WORKER = new URL('../../../../src/rpc/encode/log-worker.ts', import.meta.url)
const EVERYTHING = { fromBlock: 0, toBlock: 1_000_000, ...EVERY_LOG }

test('the time of a query ends also while nothing matches', () =>
  withChain(async ({ store, blocks }) => {
    const batch = store.batch()
    const header = store.getSync(BUCKETS.header, numberKey(0)) as Uint8Array
    for (let number = 1; number <= 5_000; number++) batch.put(BUCKETS.header, numberKey(number), header)
    await batch.write()
    let reads = 0
    const query = queryLogs(
      store,
      blocks,
      { ...EVERYTHING, ...packCriteria({ addresses: [], topics: [[`0x${'11'.repeat(32)}`]] }) },
      {
        results: 10,
        timeoutMs: 2,
        nowMs: () => reads++,
      },
    )
    await expect(query).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' })
  }))

test('a query whose blocks were dropped meanwhile has no answer', () =>
  withChain(async ({ store }) => {
    let earliest = 0
    const service = new LogService({ store, workerUrl: WORKER, earliest: () => earliest })
    try {
      for (const query of [service.query(EVERYTHING), service.text(EVERYTHING)]) {
        earliest = 5
        await expect(query).rejects.toMatchObject({ code: 'HISTORY_MISSING', detail: { earliest } })
        earliest = 0
      }
    } finally {
      await service.close()
    }
  }))

test('the end of a worker takes nothing from the one that came after it', () =>
  withChain(async ({ store }) => {
    const workers: { emit(event: string, value: unknown): void; terminate(): Promise<number> }[] = []
    const service = new LogService({ store, workerUrl: WORKER, onWorker: worker => workers.push(worker) })
    try {
      expect(await service.query(EVERYTHING)).toEqual([])
      const first = workers[0]
      // An error is told before the exit; queries in between go to a new worker.
      first?.emit('error', new Error('broken'))
      const second = service.query(EVERYTHING)
      await first?.terminate()
      expect(await second).toEqual([])
      expect(await service.query(EVERYTHING)).toEqual([])
      expect(workers).toHaveLength(2)
    } finally {
      await service.close()
    }
  }))

test('one client fills its own queue, and others have theirs', () =>
  withChain(async ({ store }) => {
    const service = new LogService({ store, workerUrl: WORKER })
    const { clientLogsInFlight, clientLogQueries } = CHAIN_LIMITS
    try {
      const greedy = Array.from({ length: clientLogsInFlight + clientLogQueries }, () =>
        service.query(EVERYTHING, 'greedy'),
      )
      await expect(service.query(EVERYTHING, 'greedy')).rejects.toMatchObject({
        detail: { code: 'QUERY_CLIENT_FULL', limit: clientLogQueries },
      })
      expect(await service.query(EVERYTHING, 'honest')).toEqual([])
      expect(service.size, 'it did not wait for all of the others').toBeGreaterThan(0)
      await Promise.all(greedy)
      expect(service.size).toBe(0)
    } finally {
      await service.close()
    }
  }))

test('what is cancelled neither waits nor runs to its end', () =>
  withChain(async ({ store }) => {
    const service = new LogService({ store, workerUrl: WORKER })
    const { clientLogsInFlight } = CHAIN_LIMITS
    try {
      const connection = new Cancellation()
      const wanted = service.text(EVERYTHING, 'a')
      const unwanted = Array.from({ length: 20 }, () => service.text(EVERYTHING, 'a', connection))
      const outcomes = Promise.allSettled(unwanted)
      connection.cancel()
      expect(service.size, 'only what runs is left').toBeLessThanOrEqual(clientLogsInFlight)
      expect((await outcomes).map(outcome => outcome.status === 'rejected' && outcome.reason)).toEqual(
        unwanted.map(() => expect.any(Cancelled)),
      )
      expect(Buffer.concat(await wanted).toString()).toBe('[]')
      expect(Buffer.concat(await service.text(EVERYTHING, 'a', new Cancellation())).toString()).toBe('[]')
      expect(service.size).toBe(0)
    } finally {
      await service.close()
    }
  }))

test('a query over a segment is cancelled within a slice, also when all is in memory', async () => {
  // No more than a row of the index holds: to read the next one waits for another thread.
  const segmentBlocks = 2_000
  const store = await temporaryStore({ segmentBlocks })
  const [batch, to] = [store.batch(), segmentBlocks - 1]
  const logs = new Array(10).fill({ address: ZERO_ADDRESS, topics: [], data: new Uint8Array(4) })
  for (let number = 1; number <= to; number++) putLoggedBlock(batch, number, [logs])
  await batch.write()
  const range = { id: 1, from: 1, to }
  expect(await runLogJob(store, { kind: 'index', ...range, places: 12 * to }, () => false)).toBe(to)
  const named = store.batch()
  putLogIndex(named, { reverts: 0, ranges: [range] })
  await named.write()
  await moveSegment(store)
  // As the worker opens it: it reads segments without waiting.
  const attached = await Store.attach(store.share())
  onTestFinished(() => attached.close())
  const bytes = 64 * 1024 * 1024
  const stored = new BlockStore(attached, { cacheBytes: bytes, rowBytes: bytes })
  const query = { ...EVERYTHING, toBlock: to }
  const limits = { results: 10 * to, timeoutMs: 60_000 }
  /** Query that a message cancels after its first block. */
  const cancelled = async (): Promise<void> => {
    const { port1, port2 } = new MessageChannel()
    let isCancelled = false
    port2.once('message', () => {
      isCancelled = true
    })
    const nowMs = () => (isCancelled ? Number.POSITIVE_INFINITY : 0)
    try {
      const find = ({ number, wanted }: LogCandidate, limit: number) => stored.logs(number, query, limit, wanted)
      for await (const _ of matchingLogs(attached, query, { ...limits, nowMs }, find)) port1.postMessage('cancelled')
    } finally {
      port1.close()
    }
  }
  await expect(cancelled()).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' })
  expect(await queryLogs(attached, stored, query, { ...limits, nowMs: () => 0 })).toHaveLength(10 * to)
  await expect(cancelled()).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' })
})

/** Init code that logs 4 KiB of zeros a hundred times. */
const LOGS = hexToBytes('0x60645b6110005fa060019003806002575f5ff3')

test('a result is charged while it grows, and ends where there is no room for it', () =>
  withChain(async chain => {
    const { store } = chain
    const fields = { to: null, gasLimit: 5_000_000n, data: LOGS }
    await chain.pool.service.submit(signedRaw(ACCOUNT_KEYS[0] as Uint8Array, fields))
    await chain.mine()
    const service = new LogService({ store, workerUrl: WORKER })
    try {
      const charged: number[] = []
      const text = Buffer.concat(await service.text(EVERYTHING, 'a', undefined, bytes => void charged.push(bytes)))
      expect(JSON.parse(text.toString('latin1'))).toHaveLength(100)
      expect(charged.length).toBeGreaterThan(3)
      expect(charged).toEqual(charged.toSorted((a, b) => a - b))
      expect(charged.at(-1)).toBe(text.byteLength)
      const full = new Error('full')
      const refused = service.text(EVERYTHING, 'a', undefined, bytes => {
        if (bytes > 200_000) throw full
      })
      await expect(refused).rejects.toBe(full)
      await eventually('its place is free', async () => (service.size === 0 ? true : undefined))
    } finally {
      await service.close()
    }
  }))
