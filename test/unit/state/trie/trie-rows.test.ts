import { createHash } from 'node:crypto'
import { bytesToHex, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { expect, onTestFinished, test, vi } from 'vitest'
import { TRIE_LIMITS } from '../../../../src/config/limits/storage.ts'
import { EMPTY_CODE_HASH, EMPTY_ROOT, encodeAccount } from '../../../../src/state/account.ts'
import { BatchPacker } from '../../../../src/state/batch.ts'
import { hashedKey } from '../../../../src/state/flat-tables.ts'
import { TrieLayers } from '../../../../src/state/trie/layers.ts'
import { type LoadProgress, openTrie } from '../../../../src/state/trie/load-trie.ts'
import { StackTrie } from '../../../../src/state/trie/stack-trie.ts'
import { PREFETCH_KEY_BYTES, type RowPlace, Trie } from '../../../../src/state/trie/trie.ts'
import { readTrieMark } from '../../../../src/state/trie/trie-rows.ts'
import { TrieService } from '../../../../src/state/trie/trie-service.ts'
import { type RowProblem, verifyRows } from '../../../../src/state/trie/verify-rows.ts'
import { accountLeaf } from '../../../../src/state/update/account-leaf.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import type { Store, StoreEntry } from '../../../../src/storage/store.ts'
import { temporaryDirectory, temporaryStore } from '../../storage/temp-store.ts'
import { TestWorld } from '../world.ts'

const addressOf = (i: number): Hex => `0x${i.toString(16).padStart(40, '0')}`

const accounts = (count: number, balance: bigint) => {
  const packer = new BatchPacker()
  for (let i = 0; i < count; i++) {
    packer.account(addressOf(i), { nonce: i, balance, codeHash: i % 3 === 0 ? EMPTY_CODE_HASH : toWord(BigInt(i)) })
    for (let j = 0; j < i % 50; j++) packer.slot(toWord(BigInt(j)), toWord(BigInt(i)))
  }
  return packer.finish()
}

test('the rows are those of version 2', () => {
  const trie = new Trie({ read: () => undefined })
  trie.apply(new Uint8Array(accounts(200, 7n).buffer), false)
  const hash = createHash('sha256')
  for (const { kind, account, path, row } of trie.flush())
    for (const part of [Buffer.from(kind), account ?? '', Uint8Array.of(path.byteLength), path, row]) hash.update(part)
  // Another layout needs another version in trie-rows.ts, so that the next start builds the rows anew.
  expect(hash.digest('hex').slice(0, 32)).toBe('46b2b4e84b2f424683b49d451f28ed87')
})

const attached = async (store: Store, worker: boolean): Promise<TrieService> => {
  const service = await TrieService.open({ worker })
  onTestFinished(() => service.close())
  await service.attach(store)
  await service.begin(await readTrieMark(store))
  return service
}

test.each([true, false])('rows are written when due and read again, in a worker: %s', async worker => {
  const store = await temporaryStore()
  const first = await attached(store, worker)
  const { root } = await first.apply(EMPTY_ROOT, accounts(300, 1n))
  await first.commit(root, 0)
  const { root: next } = await first.apply(root, accounts(10, 2n))
  await first.commit(next, 1)
  // Not due yet.
  expect(await readTrieMark(store)).toBeUndefined()
  // A block above the base is not part of it.
  await first.apply(next, accounts(20, 3n))
  await first.close()
  expect(await readTrieMark(store)).toEqual({ number: 1, root: next, accounts: 300 })
  const second = await attached(store, worker)
  const memory = await TrieService.open({ worker: false })
  await memory.load(accounts(300, 1n))
  await memory.load(accounts(10, 2n))
  const changed = () => accounts(50, 4n)
  expect(await second.apply(next, changed())).toEqual(await memory.apply(memory.root, changed()))
  expect((await second.stats()).accounts).toBe(300)
})

test('accounts are prefetched while blocks touch rows that are not in memory', async () => {
  const path = await temporaryDirectory()
  const first = await TestWorld.open(path)
  const pay = (world: TestWorld, balance: bigint) => {
    const journal = world.world.journal()
    for (let i = 1; i <= 4_000; i++) journal.setBalance(addressOf(i), balance)
    journal.endTransaction()
    return world.commit(journal)
  }
  await pay(first, 1n)
  await first.close()
  const second = await TestWorld.open(path)
  const memory = await TestWorld.open(await temporaryDirectory())
  await pay(memory, 1n)
  const prefetch = vi.spyOn(TrieService.prototype, 'prefetch')
  // The first block reads its rows and lets the second one prefetch; that finds everything in memory.
  for (const [balance, calls] of [
    [2n, 0],
    [3n, 62],
    [4n, 62],
  ] as const) {
    expect((await pay(second, balance)).root).toBe((await pay(memory, balance)).root)
    expect(prefetch).toHaveBeenCalledTimes(calls)
  }
  prefetch.mockRestore()
  await second.close()
  await memory.close()
})

test('a slot that is prefetched needs no row when it changes', () => {
  const built = new Trie({ read: () => undefined })
  const all = new BatchPacker()
  const contract = { nonce: 1, balance: 1n, codeHash: EMPTY_CODE_HASH }
  for (let i = 0; i < 300; i++) {
    all.account(addressOf(i), contract)
    if (i === 7) for (let j = 0; j < 5_000; j++) all.slot(toWord(BigInt(j)), toWord(BigInt(j + 1)))
  }
  built.apply(new Uint8Array(all.finish().buffer), false)
  const nameOf = (account: Uint8Array | undefined, path: Uint8Array) =>
    `${account === undefined ? '' : bytesToHex(account)} ${bytesToHex(path)}`
  const rows = new Map(built.flush().map(({ account, path, row }) => [nameOf(account, path), row.slice()]))
  const root = built.root()
  const changes = () => {
    const packer = new BatchPacker()
    packer.account(addressOf(7), contract)
    for (let j = 0; j < 5_000; j += 500) packer.slot(toWord(BigInt(j)), toWord(1n))
    return new Uint8Array(packer.finish().buffer)
  }
  const opened = () =>
    new Trie({ read: ({ account, path }) => rows.get(nameOf(account, path)) }, { root, accounts: 300 })
  const cold = opened()
  cold.apply(changes(), false)
  expect(cold.takeRowsRead()).toBeGreaterThan(10)
  const warm = opened()
  const keys = new Uint8Array(10 * PREFETCH_KEY_BYTES)
  for (let at = 0; at < 10; at++) {
    keys.set(hashedKey(addressOf(7)), at * PREFETCH_KEY_BYTES)
    keys.set(hexToBytes(toWord(BigInt(at * 500))), at * PREFETCH_KEY_BYTES + 32)
    keys[at * PREFETCH_KEY_BYTES + 64] = 1
  }
  warm.prefetch(keys)
  expect(warm.takeRowsRead()).toBeGreaterThan(10)
  warm.apply(changes(), false)
  expect(warm.takeRowsRead()).toBe(0)
  expect(warm.root()).toEqual(cold.root())
})

test('memory that is short is that of the lowest rows: those above stay', () => {
  const built = new Trie({ read: () => undefined })
  const all = new BatchPacker()
  for (let i = 0; i < 4_000; i++) all.account(addressOf(i), { nonce: 1, balance: 1n, codeHash: EMPTY_CODE_HASH })
  built.apply(new Uint8Array(all.finish().buffer), false)
  const rows = new Map(built.flush().map(({ path, row }) => [bytesToHex(path), row.slice()]))
  const read: string[] = []
  const reader = {
    read: ({ path }: RowPlace) => {
      read.push(bytesToHex(path))
      return rows.get(bytesToHex(path))
    },
  }
  const trie = new Trie(reader, { root: built.root(), accounts: 4_000 })
  const keys = new Uint8Array(4_000 * PREFETCH_KEY_BYTES)
  for (let i = 0; i < 4_000; i++) keys.set(hashedKey(addressOf(i)), i * PREFETCH_KEY_BYTES)
  trie.prefetch(keys)
  expect(new Set(read)).toEqual(new Set(rows.keys()))
  read.length = 0
  trie.trim(trie.stats().usedBytes / 2)
  trie.prefetch(keys)
  expect(read.length).toBeGreaterThan(rows.size / 4)
  expect(read.filter(path => [...rows.keys()].some(other => other !== path && other.startsWith(path)))).toEqual([])
})

test('after blocks enough rows are written without much change, also of empty blocks', async () => {
  const store = await temporaryStore()
  const service = await attached(store, false)
  const { root } = await service.apply(EMPTY_ROOT, accounts(1, 1n))
  for (let number = 0; number <= TRIE_LIMITS.flushBlocks; number++) await service.commit(root, number)
  await service.flush()
  expect((await readTrieMark(store))?.number).toBe(TRIE_LIMITS.flushBlocks)
})

test('a row that is not that of its place ends the trie, and the next start builds it anew', async () => {
  const store = await temporaryStore()
  const service = await attached(store, false)
  const { root } = await service.apply(EMPTY_ROOT, accounts(300, 1n))
  await service.commit(root, 0)
  await service.close()
  for await (const [key, row] of store.entries(BUCKETS.accountTrie)) {
    const other = Uint8Array.from(row)
    other[other.byteLength - 1]! ^= 1
    await store.batch().put(BUCKETS.accountTrie, key, other).write()
  }
  const again = await attached(store, false)
  await expect(again.apply(root, accounts(1, 5n))).rejects.toMatchObject({
    detail: { code: 'TRIE_FAILED', reason: expect.stringContaining('is damaged') },
  })
  expect(await readTrieMark(store)).toBeUndefined()
})

test('a changed, a missing and a stray row are found and named', async () => {
  const store = await temporaryStore()
  const service = await attached(store, false)
  const { root } = await service.apply(EMPTY_ROOT, accounts(90, 1n))
  await service.commit(root, 0)
  await service.close()
  const problems = async (): Promise<readonly RowProblem[]> => {
    const found: RowProblem[] = []
    const snapshot = store.snapshot()
    await verifyRows(store, snapshot, root, problem => found.push(problem))
    await snapshot.close()
    return found
  }
  expect(await problems()).toEqual([])
  for (const bucket of [BUCKETS.accountTrie, BUCKETS.storageTrie]) {
    const all: StoreEntry[] = []
    for await (const row of store.entries(bucket)) all.push(row)
    const rows = all.filter((_, i) => i % 30 === 0)
    expect(rows.length).toBeGreaterThan(0)
    for (const [key, row] of rows) {
      for (const at of [0, row.byteLength >> 1, row.byteLength - 1]) {
        const other = Uint8Array.from(row)
        other[at]! ^= 0x10
        await store.batch().put(bucket, key, other).write({ sync: false })
        expect(await problems()).not.toEqual([])
      }
      await store.batch().del(bucket, key).write({ sync: false })
      expect(await problems()).not.toEqual([])
      await store.batch().put(bucket, key, row).write({ sync: false })
    }
    const stray = new Uint8Array(40).fill(3)
    await store.batch().put(bucket, stray, rows[0]![1]).write({ sync: false })
    expect(await problems()).toHaveLength(1)
    await store.batch().del(bucket, stray).write({ sync: false })
  }
  expect(await problems()).toEqual([])
})

test('a build that ends early goes on where it was, for the same state alone', async () => {
  const store = await temporaryStore()
  const rows = Array.from({ length: 60 }, (_, i) => Buffer.alloc(32, i * 4))
  const batch = store.batch()
  const trie = new StackTrie()
  for (const key of rows) {
    const account = { nonce: 1, balance: BigInt(key[0]!), codeHash: EMPTY_CODE_HASH, storageRoot: EMPTY_ROOT }
    batch.put(BUCKETS.account, key, encodeAccount(account))
    trie.add(key, accountLeaf(account))
  }
  await batch.write({ sync: false })
  const meta = { number: 5, root: trie.root(), oldest: 5 }
  const stopped = async (root: Hex) => {
    const service = await TrieService.open({ worker: false })
    await service.attach(store)
    await service.begin(undefined)
    const packer = new BatchPacker({ hashed: true })
    for (const key of rows.slice(0, 31))
      packer.account(bytesToHex(key), { nonce: 1, balance: BigInt(key[0]!), codeHash: EMPTY_CODE_HASH })
    await service.load(packer.finish(), { number: 5, building: { root, next: rows[30]! } })
    await service.flush()
    // It is not closed, as if the process had ended.
  }
  for (const [root, read] of [
    [meta.root, 30],
    [toWord(1n), 60],
  ] as const) {
    await stopped(root)
    let accounts = 0
    const service = await TrieService.open({ worker: false })
    await service.attach(store)
    const onProgress = (progress: LoadProgress) => {
      accounts = progress.accounts
    }
    expect(await openTrie({ store, trie: service, meta, onProgress })).toEqual({ root: meta.root, from: 'tables' })
    expect(accounts).toBe(read)
    expect(await readTrieMark(store)).toEqual({ number: 5, root: meta.root, accounts: 60 })
    await service.close()
    const again = await TrieService.open({ worker: false })
    await again.attach(store)
    expect(await openTrie({ store, trie: again, meta })).toEqual({ root: meta.root, from: 'rows' })
    await again.close()
  }
})

const some = (from: number, to: number, balance: bigint) => {
  const packer = new BatchPacker()
  for (let i = from; i < to; i++) packer.account(addressOf(i), { nonce: i, balance, codeHash: EMPTY_CODE_HASH })
  return packer.finish()
}

test('where every commit is due, what was written leaves the memory all the same', async () => {
  const store = await temporaryStore()
  const service = await TrieService.open({ worker: false })
  onTestFinished(() => service.close())
  const cacheBytes = 1024 * 1024
  await service.attach(store, 1, cacheBytes)
  await service.begin(undefined)
  let most = 0
  for (let number = 0; number < 40; number++) {
    const { root } = await service.apply(service.root, some(number * 1_000, (number + 1) * 1_000, 1n))
    await service.commit(root, number)
    most = Math.max(most, (await service.stats()).usedBytes)
  }
  // Changes of one block come on top, until they are written.
  expect(most).toBeLessThan(2 * cacheBytes)
  const memory = await TrieService.open({ worker: false })
  expect(await memory.load(some(0, 40_000, 1n))).toBe(service.root)
})

test('a proof of an old block has no branch written', () => {
  const layers = new TrieLayers(8, new Trie({ read: () => undefined }))
  layers.load(new Uint8Array(some(0, 5_000, 1n).buffer))
  Array.from(layers.flush())
  layers.commit(layers.apply(layers.root, new Uint8Array(some(0, 10, 2n).buffer)).root)
  const before = layers.changedBranches
  const rollback = () => new Uint8Array(some(100, 4_000, 3n).buffer)
  const { root } = layers.prove(layers.root, addressOf(1), [], [rollback()])
  expect(root).not.toBe(layers.root)
  layers.preview(layers.root, [rollback(), new Uint8Array(some(5, 9, 4n).buffer)])
  layers.comeBack()
  expect(layers.changedBranches).toBe(before)
  expect(layers.trie.changedBranches).toBeGreaterThan(before)
  layers.commit(layers.apply(layers.root, new Uint8Array(some(4_990, 5_000, 2n).buffer)).root)
  expect(layers.changedBranches).toBeGreaterThan(before)
})

test('a trie that has not moved writes nothing: neither a mark over a build nor one before genesis', async () => {
  const store = await temporaryStore()
  const failed = vi.fn()
  const service = await TrieService.open({ worker: false, onFailure: failed })
  await service.attach(store, 1, 1024 * 1024)
  await service.begin(undefined)
  await service.flush()
  expect(await readTrieMark(store)).toBeUndefined()
  const { root } = await service.apply(EMPTY_ROOT, some(0, 100, 1n))
  await service.commit(root, 5)
  await service.flush()
  const mark = await readTrieMark(store)
  await service.begin({ ...(mark as NonNullable<typeof mark>), number: 77 })
  await service.flush()
  expect(await readTrieMark(store)).toEqual(mark)
  await service.close()
  expect(failed).not.toHaveBeenCalled()
})

test('a thread that dies while it writes leaves the store to the others', async () => {
  const store = await temporaryStore()
  const failed = vi.fn()
  const service = await TrieService.open({ onFailure: failed })
  await service.attach(store, 1)
  await service.begin(undefined)
  const { root } = await service.apply(EMPTY_ROOT, some(0, 100_000, 1n))
  await service.commit(root, 0)
  await expect(service.prove({ root, address: addressOf(1), slots: [null as unknown as Hex] })).rejects.toThrow()
  expect(failed).toHaveBeenCalledOnce()
  const batch = store.batch()
  batch.put(BUCKETS.meta, Uint8Array.of(1), Uint8Array.of(1))
  // It fails or not, and does not wait for ever.
  await batch.write().catch(() => undefined)
  await service.close()
  await store.close()
})
