import { type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test, vi } from 'vitest'
import { BlockStore } from '../../../../src/chain/store/block-store.ts'
import { upgradeStore } from '../../../../src/chain/store/upgrade-store.ts'
import { openChain } from '../../../../src/node/parts/open-chain.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import {
  FORMER_SCHEMA,
  metaKey,
  putIdentity,
  readIdentity,
  SCHEMA_VERSION,
  schemaOf,
} from '../../../../src/storage/schema.ts'
import { testGenesis } from '../../../support/chain.ts'
import { putLoggedBlock } from '../../../support/logged-chain.ts'
import { temporaryDirectory, temporaryStore } from '../../storage/temp-store.ts'

/** Rows of schema 5: a transaction's hash leads to number (6 bytes) and index (4 bytes); logs by bloom and by address. */
const [TRANSACTION, BLOOM, ADDRESS] = [9, 14, 15]
const identity = { network: 'devnet', genesis: toWord(7n) }

test('a store of schema 5 gets lookups of the new form, also after stops in between, and loses its log tables', async () => {
  const store = await temporaryStore()
  const batch = store.batch()
  putIdentity(batch, identity)
  for (let number = 1; number <= 3; number++) putLoggedBlock(batch, number, [[], [], []])
  await batch.write()
  const schema = Uint8Array.from(store.getSync(BUCKETS.meta, metaKey('schema')) as Uint8Array)
  schema[0] = 5
  const old = store.batch().put(BUCKETS.meta, metaKey('schema'), schema)
  const places = new Map<Hex, { number: number; index: number }>()
  const blocks = new BlockStore(store, { extraOf: () => undefined as never })
  for (let number = 1; number <= 3; number++)
    for (let index = 0; index < 3; index++) {
      const hash = (await blocks.stored(number))?.transactionHash(index) as Hex
      places.set(hash, { number, index })
      const row = Buffer.alloc(10)
      row.writeUIntBE(number, 0, 6)
      row.writeUInt32BE(index, 6)
      old.put(TRANSACTION, hexToBytes(hash), row)
    }
  for (let i = 0; i < 50; i++)
    old.put(BLOOM, Uint8Array.of(i), new Uint8Array(256)).put(ADDRESS, Uint8Array.of(i), Uint8Array.of(1))
  await old.write()
  await store.clear(BUCKETS.transactionPlace)
  const make = store.batch.bind(store)
  for (let writes = 0; (await schemaOf(store)) === 5; writes++) {
    let left = writes
    const batches = vi.spyOn(store, 'batch').mockImplementation(() => {
      const made = make()
      const write = made.write.bind(made)
      made.write = options => (left-- > 0 ? write(options) : Promise.reject(new Error('killed')))
      return made
    })
    await upgradeStore(store, silentLogger).catch(error => expect(error.message).toBe('killed'))
    batches.mockRestore()
  }
  expect(await readIdentity(store)).toEqual(identity)
  expect(SCHEMA_VERSION).toBe(6)
  for (const [hash, place] of places) expect(await blocks.locate(hash)).toEqual(place)
  for (const bucket of [TRANSACTION, BLOOM, ADDRESS]) expect(await store.first(bucket)).toBeUndefined()
})

test('two transactions with the same start of the hash are told apart', async () => {
  const store = await temporaryStore()
  const batch = store.batch()
  for (let number = 1; number <= 2; number++) putLoggedBlock(batch, number, [[], []])
  await batch.write()
  const blocks = new BlockStore(store, { extraOf: () => undefined as never })
  const hashes = await Promise.all([1, 2].map(async number => (await blocks.stored(number))?.transactionHash(0) as Hex))
  // A lookup row that leads to another transaction, as one with the same start would.
  const row = Buffer.concat([hexToBytes(hashes[0] as Hex).subarray(0, 8), Buffer.from('00000000000200000000', 'hex')])
  await store.batch().put(BUCKETS.transactionPlace, row, new Uint8Array(0)).write()
  expect(await blocks.locate(hashes[0] as Hex)).toEqual({ number: 1, index: 0 })
  expect(await blocks.locate(`${(hashes[0] as Hex).slice(0, 18)}${'0'.repeat(48)}` as Hex)).toBeUndefined()
})

test('a store of another chain is refused before it is upgraded', async () => {
  const storePath = await temporaryDirectory()
  const options = { storePath, stateHistory: 1, logger: silentLogger, onFailure: () => {} }
  const genesis = testGenesis()
  const opened = await openChain({ ...options, genesis })
  const { store } = opened
  const schema = Uint8Array.from(store.getSync(BUCKETS.meta, metaKey('schema')) as Uint8Array)
  schema[0] = FORMER_SCHEMA
  await store.batch().put(BUCKETS.meta, metaKey('schema'), schema).write()
  await opened.world.close()
  await store.close()
  const other = { ...genesis, params: { ...genesis.params, name: 'testnet' as const } }
  await expect(openChain({ ...options, genesis: other })).rejects.toMatchObject({ code: 'NETWORK_MISMATCH' })
  const again = await openChain({ ...options, genesis })
  expect(await schemaOf(again.store)).toBe(SCHEMA_VERSION)
  await again.world.close()
  await again.store.close()
})
