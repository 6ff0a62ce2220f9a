import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRandom } from '@tandem/base/random.ts'
import { expect, test } from 'vitest'
import { BUCKETS } from '../../../src/storage/buckets.ts'
import { numberKey, readNumber } from '../../../src/storage/keys.ts'
import { type Range, Store, type StoreEntry } from '../../../src/storage/store.ts'
import { temporaryDirectory, temporaryStore } from './temp-store.ts'

const bytes = (...values: number[]) => Uint8Array.from(values)
const rows = async (store: Store, bucket: number, range?: Range) => {
  const found: [number, number][] = []
  for await (const [key, value] of store.entries(bucket, range)) found.push([readNumber(key), value[0] ?? -1])
  return found
}
const fill = async (store: Store, bucket: number, count: number) => {
  const batch = store.batch()
  for (let i = 0; i < count; i++) batch.put(bucket, numberKey(i), bytes(i & 0xff))
  await batch.write()
}

test('a row is read back by every way of reading, and only in its bucket', async () => {
  const store = await temporaryStore()
  await store
    .batch()
    .put(BUCKETS.code, bytes(7), bytes(1, 2, 3))
    .write()
  expect([...(store.getSync(BUCKETS.code, bytes(7)) ?? [])]).toEqual([1, 2, 3])
  expect([...((await store.get(BUCKETS.code, bytes(7))) ?? [])]).toEqual([1, 2, 3])
  expect((await store.getMany(BUCKETS.code, [bytes(7), bytes(8)])).map(row => row?.byteLength)).toEqual([3, undefined])
  expect(await store.has(BUCKETS.code, bytes(7))).toBe(true)
  expect(await store.has(BUCKETS.code, bytes(8))).toBe(false)
  expect(store.getSync(BUCKETS.meta, bytes(7))).toBeUndefined()
  expect(await store.get(BUCKETS.body, bytes(7))).toBeUndefined()
})

test('an empty key and an empty value are kept', async () => {
  const store = await temporaryStore()
  await store.batch().put(BUCKETS.code, bytes(), bytes()).write()
  expect(store.getSync(BUCKETS.code, bytes())?.byteLength).toBe(0)
})

test('a batch copies what is queued', async () => {
  const store = await temporaryStore()
  const key = bytes(1)
  const value = bytes(1)
  const batch = store.batch().put(BUCKETS.code, key, value)
  key[0] = 2
  value[0] = 2
  await batch.write()
  expect(store.getSync(BUCKETS.code, bytes(1))?.[0]).toBe(1)
  expect(store.getSync(BUCKETS.code, bytes(2))).toBeUndefined()
})

test('the last of several operations on a key holds', async () => {
  const store = await temporaryStore()
  await store.batch().put(BUCKETS.code, bytes(1), bytes(1)).del(BUCKETS.code, bytes(1)).write()
  expect(store.getSync(BUCKETS.code, bytes(1))).toBeUndefined()
})

test('nothing of a discarded batch is written', async () => {
  const store = await temporaryStore()
  const batch = store.batch().put(BUCKETS.code, bytes(1), bytes(1))
  batch[Symbol.dispose]()
  expect(await store.isEmpty()).toBe(true)
  expect(() => batch.put(BUCKETS.code, bytes(2), bytes(2))).toThrow('STORE_WRITE_FAILED')
})

test('ranges: bounds, direction, limit, prefix, neighbours', async () => {
  const store = await temporaryStore()
  await fill(store, BUCKETS.receipts, 300)
  await fill(store, BUCKETS.blockNumber, 2)
  await fill(store, BUCKETS.blockNumber, 2)
  expect((await rows(store, BUCKETS.receipts)).length).toBe(300)
  expect(await rows(store, BUCKETS.receipts, { gte: numberKey(5), lt: numberKey(7) })).toEqual([
    [5, 5],
    [6, 6],
  ])
  expect(await rows(store, BUCKETS.receipts, { gt: numberKey(5), lte: numberKey(7) })).toEqual([
    [6, 6],
    [7, 7],
  ])
  expect(await rows(store, BUCKETS.receipts, { reverse: true, limit: 2 })).toEqual([
    [299, 43],
    [298, 42],
  ])
  expect(await rows(store, BUCKETS.receipts, { gt: numberKey(297) })).toEqual([
    [298, 42],
    [299, 43],
  ])
  expect((await rows(store, BUCKETS.receipts, { prefix: numberKey(256).subarray(0, 7) })).length).toBe(44)
  expect(readNumber((await store.first(BUCKETS.receipts, { gt: numberKey(9) }))![0])).toBe(10)
  expect(readNumber((await store.first(BUCKETS.receipts, { reverse: true }))![0])).toBe(299)
  expect(await store.first(BUCKETS.receipts, { gt: numberKey(299) })).toBeUndefined()
})

test('chunks are bounded, and a scan that is left early can be repeated', async () => {
  const store = await temporaryStore()
  await fill(store, BUCKETS.receipts, 250)
  const sizes: number[] = []
  for await (const chunk of store.chunks(BUCKETS.receipts, {}, 100)) sizes.push(chunk.length)
  expect(sizes.reduce((a, b) => a + b)).toBe(250)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(100)
  let first: StoreEntry | undefined
  for await (const storeEntry of store.entries(BUCKETS.receipts)) {
    first = storeEntry
    break
  }
  expect(readNumber(first![0])).toBe(0)
  expect((await rows(store, BUCKETS.receipts)).length).toBe(250)
})

test('a snapshot does not see later writes', async () => {
  const store = await temporaryStore()
  await fill(store, BUCKETS.receipts, 3)
  const snapshot = store.snapshot()
  await store
    .batch()
    .put(BUCKETS.receipts, numberKey(0), bytes(99))
    .put(BUCKETS.receipts, numberKey(3), bytes(3))
    .write()
  expect(store.getSync(BUCKETS.receipts, numberKey(0), snapshot)?.[0]).toBe(0)
  expect(await store.get(BUCKETS.receipts, numberKey(3), snapshot)).toBeUndefined()
  expect((await store.getMany(BUCKETS.receipts, [numberKey(0)], snapshot))[0]?.[0]).toBe(0)
  expect((await rows(store, BUCKETS.receipts, { snapshot })).length).toBe(3)
  expect((await store.first(BUCKETS.receipts, { reverse: true, snapshot }))?.[1][0]).toBe(2)
  await snapshot.close()
  expect(store.getSync(BUCKETS.receipts, numberKey(0))?.[0]).toBe(99)
})

test('clear removes a range and nothing else', async () => {
  const store = await temporaryStore()
  await fill(store, BUCKETS.receipts, 2_500)
  await fill(store, BUCKETS.blockNumber, 3)
  await store.clear(BUCKETS.receipts, { gte: numberKey(1) })
  expect(await rows(store, BUCKETS.receipts)).toEqual([[0, 0]])
  expect((await rows(store, BUCKETS.blockNumber)).length).toBe(3)
})

test('rows survive closing and opening again', async () => {
  const path = await temporaryDirectory()
  const first = await Store.open(path)
  await fill(first, BUCKETS.receipts, 10)
  await first.close()
  const second = await Store.open(path)
  expect((await rows(second, BUCKETS.receipts)).length).toBe(10)
  await second.close()
})

test('a closed store says so', async () => {
  const store = await Store.open(await temporaryDirectory())
  await store.close()
  expect(() => store.getSync(BUCKETS.meta, bytes(1))).toThrow('STORE_CLOSED')
  expect(() => store.snapshot()).toThrow('STORE_CLOSED')
  expect(() => store.batch()).toThrow('STORE_CLOSED')
  await expect(store.get(BUCKETS.meta, bytes(1))).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  await expect(store.entries(BUCKETS.meta).next()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
})

test('a store held by another process is refused with its path, and says whose it is', async () => {
  const store = await temporaryStore()
  const script = `
    const { Store } = await import(${JSON.stringify(new URL('../../../src/storage/store.ts', import.meta.url).href)})
    try { await Store.open(process.argv[1]); console.log('opened') } catch (error) { console.log(JSON.stringify(error.detail)) }`
  const other = spawnSync(process.execPath, ['--input-type=module', '-e', script, store.path], { encoding: 'utf8' })
  expect(JSON.parse(other.stdout)).toEqual({ code: 'STORE_LOCKED', path: store.path, pid: process.pid })
})

test('a path that is a file, and a store that is not there, are open failures', async () => {
  const directory = await temporaryDirectory()
  const file = join(directory, 'file')
  await writeFile(file, 'x')
  await expect(Store.open(file)).rejects.toMatchObject({ code: 'STORE_OPEN_FAILED' })
  const missing = Store.open(join(directory, 'none'), { createIfMissing: false })
  await expect(missing).rejects.toMatchObject({ code: 'STORE_OPEN_FAILED' })
})

test('a damaged store has its own error', async () => {
  const path = await temporaryDirectory()
  const store = await Store.open(path)
  await fill(store, BUCKETS.receipts, 10)
  await store.close()
  await writeFile(join(path, 'CURRENT'), 'no such manifest')
  await expect(Store.open(path)).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
})

test('a store without the file that names its manifest is refused, and nothing of it deleted', async () => {
  const path = await temporaryDirectory()
  const store = await Store.open(path, { writeBufferBytes: 65_536 })
  for (let at = 0; at < 8; at++) await store.batch().put(BUCKETS.code, bytes(at), new Uint8Array(32_768)).write()
  await store.close()
  const current = await readFile(join(path, 'CURRENT'))
  await rm(join(path, 'CURRENT'))
  const opening = Store.open(path)
  await expect(opening).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
  await expect(opening).rejects.toThrow('CURRENT')
  await writeFile(join(path, 'CURRENT'), current)
  const again = await Store.open(path)
  expect(again.getSync(BUCKETS.code, bytes(0))?.byteLength).toBe(32_768)
  await again.close()
})

test('a table that was cut short is found before it is read, since reading it would end the process', async () => {
  const path = await temporaryDirectory()
  const options = { writeBufferBytes: 65_536 }
  const store = await Store.open(path, options)
  const noise = createRandom(1)
  const value = () => Uint8Array.from({ length: 20_000 }, () => noise.below(256))
  // Some tables are replaced by compaction, so that the manifest names deleted ones too.
  for (let at = 0; at < 600; at++)
    await store
      .batch()
      .put(BUCKETS.code, numberKey(at % 540), value())
      .write({ sync: false })
  // None is left for the next open, which would replace tables.
  await store.compact(BUCKETS.code, { gte: numberKey(0), lt: numberKey(540) })
  await store.close()
  const tables = (await readdir(path)).filter(name => name.endsWith('.ldb'))
  expect(tables.length).toBeGreaterThan(1)
  for (const name of tables) {
    const file = join(path, name)
    const whole = await readFile(file)
    for (const length of [whole.byteLength - 1, 4_096, 0]) {
      await truncate(file, length)
      const opening = Store.open(path, options)
      await expect(opening).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
      const number = Number.parseInt(name, 10)
      await expect(opening).rejects.toThrow(`table file ${number} has ${length} of ${whole.byteLength} bytes`)
      await writeFile(file, whole)
    }
  }
  const again = await Store.open(path, options)
  expect((await again.get(BUCKETS.code, numberKey(399)))?.byteLength).toBe(20_000)
  await again.close()
})

test('tables are large: more of those of a large state stay open, and a read seldom opens one', async () => {
  const store = await temporaryStore()
  for (let part = 0; part < 24; part++) {
    const batch = store.batch()
    for (let row = 0; row < 32; row++) batch.put(BUCKETS.code, bytes(row, part), randomBytes(32 * 1_024))
    await batch.write({ sync: false })
  }
  await store.compact(BUCKETS.code, { gte: bytes(0), lt: bytes(32) })
  const tables = (await readdir(store.path)).filter(name => name.endsWith('.ldb'))
  expect(tables.length).toBeLessThanOrEqual(4)
})

test('counters follow reads and batches', async () => {
  const store = await temporaryStore()
  await fill(store, BUCKETS.receipts, 3)
  store.getSync(BUCKETS.receipts, numberKey(1))
  await store.getMany(BUCKETS.receipts, [numberKey(1), numberKey(2)])
  expect(store.counters).toMatchObject({ reads: 3, batches: 1, batchRows: 3, writeFailures: 0 })
})

test('a flush syncs what was written without, and a closed store refuses it', async () => {
  const store = await temporaryStore({ writeBufferBytes: 64 * 1024 })
  // Enough for several logs, one after the other.
  for (let part = 0; part < 20; part++) {
    const batch = store.batch()
    batch.put(BUCKETS.code, bytes(part), new Uint8Array(32 * 1024).fill(part))
    await batch.write({ sync: false })
    await store.flush()
  }
  expect(store.getSync(BUCKETS.code, bytes(19))?.byteLength).toBe(32 * 1024)
  await store.close()
  await expect(store.flush()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
})
