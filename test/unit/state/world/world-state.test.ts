import { ZERO_HASH } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { TRIE_LIMITS } from '../../../../src/config/limits/storage.ts'
import { EMPTY_ROOT } from '../../../../src/state/account.ts'
import { hashedKey } from '../../../../src/state/flat-tables.ts'
import { openStateReader } from '../../../../src/state/history/stored-state.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import type { StateUpdate } from '../../../../src/state/update/state-update.ts'
import { verifyState } from '../../../../src/state/world/verify-state.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import { numberKey } from '../../../../src/storage/keys.ts'
import { temporaryDirectory } from '../../storage/temp-store.ts'
import { allocate } from '../allocate.ts'
import { fakeHeader } from '../fake-header.ts'
import { address, MemoryState, memoryAccount, word } from '../memory-state.ts'
import { forgetTrie, referenceRoot, TestWorld, temporaryWorld } from '../world.ts'

const A = address(0xa)
const B = address(0xb)

test('before genesis there is nothing, and an empty root', async () => {
  const { world } = await temporaryWorld()
  expect([world.number, world.root, world.oldest]).toEqual([-1, EMPTY_ROOT, 0])
  expect(world.head.account(A)).toBeUndefined()
})

test('genesis is block 0 by the same path as every block', async () => {
  const { world, commit } = await genesis()
  const expected = new MemoryState(
    new Map([
      [A, memoryAccount({ balance: 10n ** 24n })],
      [B, memoryAccount({ nonce: 1, balance: 5n, storage: new Map([[word(1), word(2)]]), codeHash: commit.codeHash })],
    ]),
  )
  expect([world.number, world.root]).toEqual([0, await referenceRoot(expected)])
  expect([...world.head.code(B)]).toEqual([0x60, 0x00])
  expect(world.head.storage(B, word(1))).toBe(word(2))
})

test('while a block is written, the head still answers the block before; also what no cache holds', async () => {
  const { test: t, world } = await genesis({ limits: { accountCache: 2, slotCache: 2 } })
  const journal = world.journal()
  journal.setBalance(A, 7n)
  journal.setStorage(B, word(1), word(9))
  journal.deleteAccount(address(0xc))
  const update = await world.computeUpdate(journal.changes(), world.root)
  const batch = t.store.batch()
  await world.write(batch, 1, update)
  await batch.write()
  // Reads of others push A and B out of so small a cache.
  for (let i = 0; i < 10; i++) {
    world.head.account(address(i + 100))
    world.head.storage(B, word(i + 100))
  }
  expect(world.head.account(A)?.balance).toBe(10n ** 24n)
  expect(world.head.storage(B, word(1))).toBe(word(2))
  const advanced = world.committed(1, update)
  expect(world.head.account(A)?.balance).toBe(7n)
  expect(world.head.storage(B, word(1))).toBe(word(9))
  expect([world.number, world.root]).toEqual([1, update.root])
  await advanced
})

test('several blocks are sealed on the head and one is committed', async () => {
  const { test: t, world } = await genesis()
  const roots = new Set<string>()
  const candidates = []
  for (const balance of [1n, 2n, 3n]) {
    const journal = world.journal()
    journal.setBalance(A, balance)
    candidates.push(journal)
    roots.add((await world.computeUpdate(journal.changes(), world.root)).root)
  }
  expect(roots.size).toBe(3)
  await t.commit(candidates[1]!)
  expect(world.head.account(A)?.balance).toBe(2n)
  const next = world.journal()
  next.setBalance(B, 6n)
  await t.commit(next)
  expect((await verifyState(t.store)).problems).toEqual([])
})

test('a block that changes nothing keeps the root and has its history', async () => {
  const { test: t, world } = await genesis()
  const root = world.root
  await t.commit(world.journal())
  expect([world.number, world.root]).toEqual([1, root])
  const reader = await openStateReader(t.store, 0)
  expect((await reader.account(A))?.balance).toBe(10n ** 24n)
  reader.release()
})

test('the head is read synchronously from a snapshot that later blocks do not disturb', async () => {
  const { test: t, world } = await genesis()
  const reader = await openStateReader(t.store, 0)
  const journal = world.journal()
  journal.setBalance(A, 1n)
  journal.setStorage(B, word(1), ZERO_HASH)
  await t.commit(journal)
  expect(reader.sync?.account(A)?.balance).toBe(10n ** 24n)
  expect(reader.sync?.storage(B, word(1))).toBe(word(2))
  expect([...(reader.sync?.code(B) ?? [])]).toEqual([0x60, 0x00])
  expect((await reader.account(A))?.balance).toBe(10n ** 24n)
  reader.release()
  const older = await openStateReader(t.store, 0)
  expect(older.sync).toBeUndefined()
  expect([older.number, older.headNumber]).toEqual([0, 1])
  expect(await older.storage(B, word(1))).toBe(word(2))
  older.release()
})

test('an older state is laid over the head’s only while little has changed since', async () => {
  const { test: t, world } = await genesis()
  const journal = world.journal()
  journal.setBalance(A, 1n)
  journal.setStorage(B, word(1), word(3))
  await t.commit(journal)
  const reader = await openStateReader(t.store, 0)
  const overlay = await reader.overlay()
  const onTop = new Journal(overlay!)
  onTop.addBalance(A, 1n)
  expect([onTop.balance(A), onTop.storage(B, word(1)), onTop.code(B).byteLength]).toEqual([10n ** 24n + 1n, word(2), 2])
  // Two accounts and a slot changed.
  expect(await reader.overlay(3)).toBeDefined()
  expect(await reader.overlay(2)).toBeUndefined()
  reader.release()
})

test('a candidate sealed before another can be committed as it is', async () => {
  const { test: t, world } = await genesis()
  const sealed = []
  for (const balance of [1n, 2n, 3n]) {
    const journal = world.journal()
    journal.setBalance(A, balance)
    sealed.push(await world.computeUpdate(journal.changes(), world.root))
  }
  const chosen = sealed[0]!
  const batch = t.store.batch().put(BUCKETS.header, numberKey(1), fakeHeader(chosen.root))
  await world.write(batch, 1, chosen)
  await batch.write()
  const late = world.journal()
  late.setBalance(A, 4n)
  const underWay = world.computeUpdate(late.changes(), world.root)
  await world.committed(1, chosen)
  await underWay
  const next = world.journal()
  next.setBalance(B, 6n)
  await t.commit(next)
  expect(world.head.account(A)?.balance).toBe(1n)
  expect((await verifyState(t.store)).problems).toEqual([])
})

test('beyond the head there is no state', async () => {
  const { test: t } = await genesis()
  await expect(openStateReader(t.store, 1)).rejects.toMatchObject({
    detail: { code: 'MISSING_STATE', root: ZERO_HASH },
  })
  await expect(t.world.prove(1, A, [])).rejects.toMatchObject({ code: 'MISSING_STATE' })
})

test('many proofs of older blocks at once: one collects old values, a bounded number waits, the rest is refused', async () => {
  const { test: t, world } = await genesis()
  const journal = world.journal()
  journal.setBalance(A, 7n)
  await t.commit(journal)
  let open = 0
  let peak = 0
  const { store } = t
  const take = store.snapshot.bind(store)
  store.snapshot = () => {
    const snapshot = take()
    const close = snapshot.close.bind(snapshot)
    peak = Math.max(peak, ++open)
    snapshot.close = () => {
      open--
      return close()
    }
    return snapshot
  }
  const limit = TRIE_LIMITS.proofs.queued
  const results = await Promise.allSettled(Array.from({ length: limit + 5 }, () => world.prove(0, A, [])))
  const proven = results.filter(result => result.status === 'fulfilled')
  expect(proven).toHaveLength(limit)
  for (const { value } of proven) expect(value.balance).toBe(10n ** 24n)
  for (const result of results.slice(limit)) expect(result).toMatchObject({ reason: { detail: { code: 'TRIE_BUSY' } } })
  expect(peak).toBe(1)
  expect((await world.prove(0, A, [])).balance).toBe(10n ** 24n)
})

test('an account deleted with stored slots takes them along, and history knows them', async () => {
  const { test: t, world } = await genesis()
  const journal = world.journal()
  journal.deleteAccount(B)
  await t.commit(journal)
  for await (const key of t.store.keys(BUCKETS.slot)) expect.fail(`slot ${key} is left`)
  expect(world.head.storage(B, word(1))).toBe(ZERO_HASH)
  const reader = await openStateReader(t.store, 0)
  expect(await reader.storage(B, word(1))).toBe(word(2))
  reader.release()
  expect((await world.prove(0, B, [word(1)])).storageProof[0]?.value).toBe(2n)
  expect((await verifyState(t.store)).problems).toEqual([])
})

test('what was absent is absent in history, also by the empty rows of the schema before', async () => {
  const { test: t, world } = await genesis()
  const { root } = world
  const journal = world.journal()
  journal.setBalance(address(0xc), 7n)
  journal.setStorage(B, word(7), word(1))
  await t.commit(journal)
  const expectAbsent = async (): Promise<void> => {
    const reader = await openStateReader(t.store, 0)
    const older = await reader.overlay()
    expect([await reader.account(address(0xc)), older?.account(address(0xc))]).toEqual([undefined, undefined])
    expect([await reader.storage(B, word(7)), older?.storage(B, word(7))]).toEqual([ZERO_HASH, ZERO_HASH])
    expect(await countOf(reader.accounts(new Uint8Array(32)))).toBe(2)
    expect(await countOf(reader.slots(hashedKey(B), new Uint8Array(32)))).toBe(1)
    expect((await reader.changedUpTo(1, async () => {})).length).toBe(2)
    reader.release()
    expect(await world.prove(0, B, [word(7)])).toMatchObject({ root, storageProof: [{ value: 0n }] })
  }
  await expectAbsent()
  const batch = t.store.batch()
  for (const bucket of [BUCKETS.accountHistory, BUCKETS.slotHistory]) {
    for await (const [key, value] of t.store.entries(bucket))
      if (value.every(byte => byte === 0)) batch.put(bucket, key, new Uint8Array(0))
  }
  expect(batch.size).toBe(2)
  await batch.write()
  await expectAbsent()
})

test('a state that is not the head’s is refused', async () => {
  const path = await temporaryDirectory()
  const { test: t, world } = await genesis({}, path)
  const head = { number: 0, stateRoot: world.root }
  await t.close()
  await expect(TestWorld.open(path, { head: { ...head, number: 1 } })).rejects.toMatchObject({
    detail: { code: 'STATE_HEAD_MISMATCH', expected: 1, found: 0 },
  })
  await expect(TestWorld.open(path, { head: { ...head, stateRoot: word(1) } })).rejects.toMatchObject({
    detail: { code: 'STATE_ROOT_MISMATCH', number: 0, expected: word(1), found: head.stateRoot },
  })
  const again = await TestWorld.open(path, { head })
  expect(again.world.root).toBe(head.stateRoot)
  await again.close()
})

test('a damaged table is found when the trie is built from it', async () => {
  const path = await temporaryDirectory()
  const { test: t } = await genesis({}, path)
  for await (const key of t.store.keys(BUCKETS.slot)) await t.store.batch().del(BUCKETS.slot, key).write()
  await t.close()
  await forgetTrie(path)
  await expect(TestWorld.open(path)).rejects.toMatchObject({ code: 'STATE_ROOT_MISMATCH' })
})

test('the trie is rebuilt in slices, also of an account with more slots than one', async () => {
  const path = await temporaryDirectory()
  const first = await TestWorld.open(path)
  const journal = first.world.journal()
  const storage = Array.from({ length: 20_000 }, (_, i) => [word(i), word(i + 1)] as const)
  allocate(journal, [
    { address: A, balance: 1n, storage },
    { address: B, balance: 1n, storage: storage.slice(0, 10) },
  ])
  for (let i = 0; i < 3_000; i++) journal.setBalance(address(i + 1_000), BigInt(i + 1))
  const { root } = await first.commit(journal)
  await first.close()
  await forgetTrie(path)
  const progress: number[] = []
  const second = await TestWorld.open(path, { onProgress: ({ slots }) => progress.push(slots) })
  expect(second.world.root).toBe(root)
  expect(progress.length).toBeGreaterThan(2)
  expect(progress.at(-1)).toBe(20_010)
  await second.close()
})

test('a shorter history is reached over several blocks', async () => {
  const path = await temporaryDirectory()
  const archive = await TestWorld.open(path, { stateHistory: 'archive' })
  const grow = async (world: TestWorld, blocks: number) => {
    for (let i = 0; i < blocks; i++) {
      const journal = world.world.journal()
      journal.setBalance(A, BigInt(world.world.number + 2))
      await world.commit(journal)
    }
  }
  await grow(archive, 21)
  expect([archive.world.number, archive.world.oldest]).toEqual([20, 0])
  await archive.close()
  const pruned = await TestWorld.open(path, { stateHistory: 2 })
  await grow(pruned, 1)
  expect(pruned.world.oldest).toBe(8)
  await grow(pruned, 3)
  expect([pruned.world.number, pruned.world.oldest]).toEqual([24, 22])
  await expect(openStateReader(pruned.store, 21)).rejects.toMatchObject({ code: 'MISSING_STATE' })
  const reader = await openStateReader(pruned.store, 22)
  expect((await reader.account(A))?.balance).toBe(23n)
  reader.release()
  const kept = []
  for await (const key of pruned.store.keys(BUCKETS.accountHistory)) kept.push(key)
  expect(kept.length).toBe(2)
  await pruned.close()
})

test.each(['archive', 6] as const)(
  'blocks that are written together have the rows of those that come one by one (history: %s)',
  async stateHistory => {
    const [one, many] = await Promise.all([genesis({ stateHistory }), genesis({ stateHistory })])
    const change = (journal: Journal, block: number): Journal => {
      journal.setBalance(A, BigInt(block))
      journal.setStorage(B, word(block % 5), word(block))
      journal.setStorage(B, word(1), word(block % 3))
      journal.endTransaction()
      return journal
    }
    const blocks = 20
    for (let block = 1; block <= blocks; block++) await one.test.commit(change(one.world.journal(), block))
    for (let block = 1; block <= blocks; ) {
      const ahead = many.world.ahead()
      const updates: StateUpdate[] = []
      for (let follows = true; follows && block <= blocks; block++) {
        const journal = change(ahead.journal(), block)
        const update = await ahead.computeUpdate(journal.changes(), ahead.root)
        updates.push(update)
        follows = ahead.add(update)
      }
      expect(updates.length).toBe(stateHistory === 'archive' ? blocks : Math.min(3, updates.length))
      const first = many.world.number + 1
      const batch = many.test.store.batch()
      for (const [i, { root }] of updates.entries()) batch.put(BUCKETS.header, numberKey(first + i), fakeHeader(root))
      await many.world.write(batch, first, ...updates)
      expect(many.world.head.account(A)?.balance).not.toBe(BigInt(block - 1))
      await batch.write()
      await many.world.committed(first, ...updates)
      expect(many.world.head.account(A)?.balance).toBe(BigInt(block - 1))
    }
    expect([many.world.number, many.world.root, many.world.oldest]).toEqual([20, one.world.root, one.world.oldest])
    for (const bucket of Object.values(BUCKETS)) {
      const rows: [unknown[], unknown[]] = [[], []]
      for await (const row of one.test.store.entries(bucket)) rows[0].push(row)
      for await (const row of many.test.store.entries(bucket)) rows[1].push(row)
      expect([bucket, rows[1]]).toEqual([bucket, rows[0]])
    }
    expect(await verifyState(many.test.store)).toMatchObject({ root: one.world.root })
  },
)

test('a failing row, whichever it is, leaves the block before; trying again succeeds', async () => {
  const { test: t, world } = await genesis()
  const root = world.root
  const journal = world.journal()
  journal.setBalance(A, 7n)
  journal.setStorage(B, word(1), word(9))
  journal.setCode(address(0xd), Uint8Array.of(1))
  const update = await world.computeUpdate(journal.changes(), root)
  let failed = 0
  for (let failAt = 1; ; failAt++) {
    const batch = t.store.batch()
    let calls = 0
    const put = batch.put.bind(batch)
    batch.put = (...row) => {
      if (++calls === failAt) throw new Error('no space left on device')
      return put(...row)
    }
    const outcome = await world.write(batch, 1, update).then(
      () => 'written',
      () => 'failed',
    )
    if (outcome === 'written') {
      await batch.write()
      await world.committed(1, update)
      break
    }
    failed++
    batch[Symbol.dispose]()
    expect([world.number, world.root, world.head.account(A)?.balance]).toEqual([0, root, 10n ** 24n])
    expect((await verifyState(t.store)).root).toBe(root)
  }
  expect(failed).toBeGreaterThan(5)
  expect(world.head.account(A)?.balance).toBe(7n)
  expect(await verifyState(t.store)).toMatchObject({ root: update.root })
})

test('a trie that is gone fails the seal', async () => {
  const path = await temporaryDirectory()
  const t = await TestWorld.open(path)
  const journal = t.world.journal()
  journal.setBalance(A, 1n)
  await t.commit(journal)
  await t.world.close()
  await expect(t.world.computeUpdate(journal.changes(), t.world.root)).rejects.toMatchObject({ code: 'TRIE_CLOSED' })
  await t.store.close()
})

const countOf = async (rows: AsyncIterable<unknown>): Promise<number> => {
  let count = 0
  for await (const _ of rows) count++
  return count
}

const genesis = async (options: Parameters<typeof TestWorld.open>[1] = {}, path?: string) => {
  const opened = path === undefined ? await temporaryWorld(options) : await TestWorld.open(path, options)
  const { world } = opened
  const journal = world.journal()
  allocate(journal, [
    { address: A, balance: 10n ** 24n },
    { address: B, balance: 5n, nonce: 1, code: Uint8Array.of(0x60, 0x00), storage: [[word(1), word(2)]] },
  ])
  const codeHash = journal.codeHash(B)
  await opened.commit(journal)
  return { test: opened, world, commit: { codeHash } }
}
