import { expect, test } from 'vitest'
import { BUCKETS } from '../../../src/storage/buckets.ts'
import { numberKey } from '../../../src/storage/keys.ts'
import { Store } from '../../../src/storage/store.ts'
import { temporaryDirectory, temporaryStore } from './temp-store.ts'

const VALUE = Uint8Array.of(1)
const numbers = async (store: Store): Promise<number> => {
  let count = 0
  for await (const _ of store.keys(BUCKETS.header)) count++
  return count
}

test('a batch that takes the memory of an earlier one starts empty, written or discarded', async () => {
  const store = await temporaryStore()
  await store.batch().put(BUCKETS.header, numberKey(1), VALUE).write()
  store.batch().put(BUCKETS.header, numberKey(2), VALUE)[Symbol.dispose]()
  const third = store.batch()
  expect(third.size).toBe(0)
  await third.put(BUCKETS.header, numberKey(3), VALUE).write()
  expect(await store.get(BUCKETS.header, numberKey(2))).toBeUndefined()
  expect(await numbers(store)).toBe(2)
})

test('batches under way at once do not mix', async () => {
  const store = await temporaryStore()
  const writes = Array.from({ length: 20 }, (_, index) => {
    const batch = store.batch()
    for (let row = 0; row < 50; row++) batch.put(BUCKETS.header, numberKey(index * 50 + row), VALUE)
    return index % 5 === 4 ? batch[Symbol.dispose]() : batch.write({ sync: index % 2 === 0 })
  })
  await Promise.all(writes)
  expect(await numbers(store)).toBe(16 * 50)
})

test('a batch is used once', async () => {
  const store = await temporaryStore()
  const batch = store.batch().put(BUCKETS.header, numberKey(1), VALUE)
  await batch.write()
  expect(() => batch.put(BUCKETS.header, numberKey(2), VALUE)).toThrow()
  await expect(batch.write()).rejects.toThrow()
  batch[Symbol.dispose]()
})

test('closing waits for the writes under way; afterwards batches are refused', async () => {
  const path = await temporaryDirectory()
  const store = await Store.open(path)
  const open = store.batch().put(BUCKETS.header, numberKey(9), VALUE)
  const batch = store.batch()
  for (let row = 0; row < 5_000; row++) batch.put(BUCKETS.body, numberKey(row), new Uint8Array(500))
  const write = batch.write()
  await Promise.all([store.close(), write])
  await expect(open.write()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  expect(() => store.batch()).toThrow(/STORE_CLOSED/)
  const again = await Store.open(path)
  expect(await again.get(BUCKETS.body, numberKey(4_999))).toBeDefined()
  expect(await again.get(BUCKETS.header, numberKey(9))).toBeUndefined()
  await again.close()
})
