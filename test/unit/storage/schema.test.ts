import { expect, test } from 'vitest'
import { BUCKETS } from '../../../src/storage/buckets.ts'
import { metaKey, putIdentity, readIdentity, SCHEMA_VERSION } from '../../../src/storage/schema.ts'
import { Store } from '../../../src/storage/store.ts'
import { temporaryDirectory, temporaryStore } from './temp-store.ts'

const devnet = { network: 'devnet', genesis: `0x${'11'.repeat(32)}` } as const

const created = async (store: Store) => {
  const batch = store.batch()
  putIdentity(batch, devnet)
  await batch.write()
}

test('a new store takes the identity written with genesis, also after opening again', async () => {
  const path = await temporaryDirectory()
  const store = await Store.open(path)
  expect(await readIdentity(store)).toBeUndefined()
  await created(store)
  await store.close()
  const again = await Store.open(path)
  expect(await readIdentity(again)).toEqual(devnet)
  await again.close()
})

test('an unknown schema is refused, never rewritten', async () => {
  const store = await temporaryStore()
  await created(store)
  const row = store.getSync(BUCKETS.meta, metaKey('schema'))!
  const newer = Uint8Array.from(row)
  newer[0] = SCHEMA_VERSION + 1
  await store.batch().put(BUCKETS.meta, metaKey('schema'), newer).write()
  await expect(readIdentity(store)).rejects.toMatchObject({
    detail: { code: 'SCHEMA_UNKNOWN', path: store.path, found: SCHEMA_VERSION + 1, supported: SCHEMA_VERSION },
  })
  expect([...store.getSync(BUCKETS.meta, metaKey('schema'))!]).toEqual([...newer])
})

test('rows without a schema belong to another program', async () => {
  const store = await temporaryStore()
  await store.batch().put(BUCKETS.code, Uint8Array.of(1), Uint8Array.of(1)).write()
  await expect(readIdentity(store)).rejects.toMatchObject({ code: 'STORE_FOREIGN' })
})
