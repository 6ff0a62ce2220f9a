import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finishSlicedWork } from '@tandem/base/async/sliced-work.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putReceipts, readReceipts, removeReceipts } from '../../../../src/chain/store/receipt-parts.ts'
import { CHAIN_LIMITS } from '../../../../src/config/limits/chain.ts'
import { keccak256Hex } from '../../../../src/crypto/hash.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import { Store } from '../../../../src/storage/store.ts'

const PART = CHAIN_LIMITS.receiptPartBytes

let dir: string
let store: Store
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tandem-receipts-'))
  store = await Store.open(join(dir, 'db'))
})
afterAll(async () => {
  await store?.close()
  rmSync(dir, { recursive: true, force: true })
})

const rowOf = (bytes: number): Uint8Array => Uint8Array.from({ length: bytes }, (_, i) => (i * 31 + (i >> 11)) & 0xff)
const write = async (number: number, row: Uint8Array): Promise<void> => {
  const batch = store.batch()
  finishSlicedWork(putReceipts(batch, number, row))
  await batch.write()
}
const parts = async (): Promise<readonly number[]> => {
  const sizes: number[] = []
  for await (const [, value] of store.entries(BUCKETS.receiptPart)) sizes.push(value.byteLength)
  return sizes
}

test.each([
  ['short ones', 1, []],
  ['almost a part', PART - 1, []],
  ['exactly a part', PART, []],
  ['a byte more', PART + 1, [1]],
  ['exactly three parts', 3 * PART, [PART, PART]],
  ['three and a half', 3 * PART + PART / 2, [PART, PART, PART / 2]],
] as const)('receipts are read as they were written, in parts of bounded size: %s', async (_, bytes, expected) => {
  const row = rowOf(bytes)
  await write(7, row)
  // Neighbours have parts of their own.
  await write(8, rowOf(10))
  expect(await parts()).toEqual(expected)
  const read = (await readReceipts(store, 7)) as Uint8Array
  expect(read.byteLength).toBe(bytes)
  expect(keccak256Hex(read)).toBe(keccak256Hex(row))
  const batch = store.batch()
  removeReceipts(batch, store, 7)
  await batch.write()
  expect(await readReceipts(store, 7)).toBeUndefined()
  expect(await readReceipts(store, 8)).toHaveLength(10)
  expect(await parts()).toEqual([])
})

test('a snapshot reads the parts it was taken with', async () => {
  await write(9, rowOf(2 * PART + 5))
  const snapshot = store.snapshot()
  const batch = store.batch()
  removeReceipts(batch, store, 9)
  await batch.write()
  expect(await readReceipts(store, 9, snapshot)).toHaveLength(2 * PART + 5)
  await snapshot.close()
})

test('the memory of the parts is returned when they are joined, without a garbage collection', async () => {
  await write(10, rowOf(2 * PART + 5))
  const read: (Uint8Array | undefined)[] = []
  const get = store.get.bind(store)
  store.get = async (...args) => {
    const value = await get(...args)
    read.push(value)
    return value
  }
  expect(await readReceipts(store, 10)).toHaveLength(2 * PART + 5)
  expect(read.map(part => part?.byteLength)).toEqual([0, 0, 0])
})
