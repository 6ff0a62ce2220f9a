import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRandom } from '@tandem/base/random.ts'
import { expect, test } from 'vitest'
import { BUCKETS } from '../../../src/storage/buckets.ts'
import { numberKey, readNumber } from '../../../src/storage/keys.ts'
import { type Snapshot, Store } from '../../../src/storage/store.ts'
import { seedRange } from '../../support/seed.ts'
import { temporaryDirectory } from './temp-store.ts'

const { code } = BUCKETS
const rowsOf = async (store: Store, snapshot?: Snapshot): Promise<Record<number, number>> => {
  const rows: Record<number, number> = {}
  for await (const [key, value] of store.entries(code, snapshot && { snapshot }))
    rows[readNumber(key)] = value[0] as number
  return rows
}

const openTemporary = async (): Promise<Store> =>
  Store.open(join(await temporaryDirectory(), 'db'), { ephemeral: true })

test('a temporary store has no folder until another thread opens it, which sees every row', async () => {
  const store = await openTemporary()
  await store.batch().put(code, numberKey(1), Uint8Array.of(1)).write()
  expect(existsSync(store.path)).toBe(false)
  const other = Store.attach(store.share())
  await store.batch().put(code, numberKey(2), Uint8Array.of(2)).write()
  expect(await rowsOf(await other)).toEqual({ 1: 1, 2: 2 })
  await Promise.all([(await other).close(), store.close()])
})

test('rows, snapshots and batches begun before are the same after the move, whenever it comes', async () => {
  const { firstSeed, count } = seedRange(20)
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const random = createRandom(seed)
    const store = await openTemporary()
    const model: Record<number, number> = {}
    const snapshots: { readonly taken: Snapshot; readonly rows: Record<number, number> }[] = []
    const moveAt = random.below(40)
    for (let step = 0; step < 40; step++) {
      const batch = store.batch()
      if (step === moveAt) store.share()
      for (let row = 0; row < 5; row++) {
        const key = random.below(30)
        if (random.chance(0.3)) {
          batch.del(code, numberKey(key))
          delete model[key]
        } else {
          batch.put(code, numberKey(key), Uint8Array.of(step))
          model[key] = step
        }
      }
      await batch.write()
      if (random.chance(0.2)) snapshots.push({ taken: store.snapshot(), rows: { ...model } })
      const key = random.below(30)
      expect(store.getSync(code, numberKey(key))?.[0], `SEED=${seed}`).toBe(model[key])
      expect(await rowsOf(store), `SEED=${seed}`).toEqual(model)
      for (const { taken, rows } of snapshots) {
        expect(await rowsOf(store, taken), `SEED=${seed}`).toEqual(rows)
        expect(store.getSync(code, numberKey(key), taken)?.[0]).toBe(rows[key])
      }
    }
    expect(existsSync(store.path)).toBe(true)
    for (const { taken } of snapshots) await taken.close()
    await store.close()
  }
})

test('what a reader does to a row of memory does not change it', async () => {
  const store = await openTemporary()
  await store.batch().put(code, numberKey(1), Uint8Array.of(1)).write()
  store.getSync(code, numberKey(1))?.fill(9)
  for await (const [key, value] of store.entries(code)) {
    key.fill(9)
    value.fill(9)
  }
  expect(await rowsOf(store)).toEqual({ 1: 1 })
  await store.close()
})

test('a store that grows moves to its folder', async () => {
  const store = await openTemporary()
  for (let at = 0; !existsSync(store.path) && at < 20; at++)
    await store
      .batch()
      .put(code, numberKey(at), new Uint8Array(1 << 20))
      .write()
  expect(existsSync(store.path)).toBe(true)
  await store.batch().put(code, numberKey(100), Uint8Array.of(1)).write()
  expect(store.getSync(code, numberKey(100))?.[0]).toBe(1)
  expect(store.isInMemory).toBe(false)
  await store.close()
})

test('a folder that cannot be made counts as a failed write: nothing is written any more', async () => {
  const folder = await temporaryDirectory()
  const reasons: string[] = []
  // A file in the place of the folder, which stops root too.
  const path = join(folder, 'db')
  await writeFile(path, '')
  const store = await Store.open(path, { ephemeral: true, onWriteFailed: error => reasons.push(error.message) })
  store.share()
  const write = store.batch().put(code, numberKey(1), Uint8Array.of(1)).write()
  await expect(write).rejects.toMatchObject({ detail: { code: 'STORE_WRITE_FAILED' } })
  await expect.poll(() => reasons.length).toBe(1)
  await store.close()
})

test('a close while the store moves waits for it', async () => {
  const store = await openTemporary()
  await store.batch().put(code, numberKey(1), Uint8Array.of(1)).write()
  store.share()
  await store.close()
  const again = await Store.open(store.path)
  expect(await rowsOf(again)).toEqual({ 1: 1 })
  await again.close()
})
