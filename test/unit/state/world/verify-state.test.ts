import { bytesToHex, hexToBytes } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { hashedKey, slotKey } from '../../../../src/state/flat-tables.ts'
import { verifyState } from '../../../../src/state/world/verify-state.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import { numberKey } from '../../../../src/storage/keys.ts'
import { allocate } from '../allocate.ts'
import { address, word } from '../memory-state.ts'
import { temporaryWorld } from '../world.ts'

const A = address(0xa)
const B = address(0xb)

const genesis = async () => {
  const { world, store, commit } = await temporaryWorld().then(t => ({ ...t, commit: t.commit.bind(t) }))
  const journal = world.journal()
  allocate(journal, [
    { address: A, balance: 1n },
    {
      address: B,
      balance: 2n,
      code: Uint8Array.of(0xfe),
      storage: [
        [word(1), word(2)],
        [word(2), word(300)],
      ],
    },
  ])
  const codeHash = journal.codeHash(B)
  const { root } = await commit(journal)
  return { store, root, codeHash }
}
const kinds = async (store: Parameters<typeof verifyState>[0]) => (await verifyState(store)).problems.map(p => p.kind)

test('a whole state has no problems and says what it counted', async () => {
  const { store, root } = await genesis()
  const progress: number[] = []
  const report = await verifyState(store, ({ done }) => progress.push(done))
  expect(report).toEqual({ number: 0, root, accounts: 2, slots: 2, codes: 1, problems: [] })
  expect(progress.at(-1)).toBe(1)
})

test('a lost slot shows as a storage root', async () => {
  const { store } = await genesis()
  await store
    .batch()
    .del(BUCKETS.slot, slotKey(hashedKey(B), word(1)))
    .write()
  expect((await verifyState(store)).problems).toMatchObject([
    { kind: 'STORAGE_ROOT', account: bytesToHex(hashedKey(B)) },
  ])
})

test('a changed or lost account shows as the state root, its slots as strays', async () => {
  const { store } = await genesis()
  await store.batch().put(BUCKETS.account, hashedKey(A), Uint8Array.of(0, 9)).write()
  expect(await kinds(store)).toEqual(['STATE_ROOT'])
  await store.batch().del(BUCKETS.account, hashedKey(B)).write()
  expect(await kinds(store)).toEqual(['STRAY_SLOT', 'STRAY_SLOT', 'STATE_ROOT'])
})

test('lost and changed code show', async () => {
  const { store, codeHash } = await genesis()
  await store.batch().put(BUCKETS.code, hexToBytes(codeHash), Uint8Array.of(1)).write()
  expect((await verifyState(store)).problems).toEqual([{ kind: 'WRONG_CODE', codeHash }])
  await store.batch().del(BUCKETS.code, hexToBytes(codeHash)).write()
  expect((await verifyState(store)).problems).toMatchObject([{ kind: 'MISSING_CODE', codeHash }])
})

test('a header of another root, and a store without state, show', async () => {
  const { store } = await genesis()
  await store.batch().del(BUCKETS.header, numberKey(0)).write()
  expect(await kinds(store)).toEqual(['HEADER_ROOT'])
  await store.clear(BUCKETS.meta)
  expect(await kinds(store)).toEqual(['NO_STATE'])
})
