import { createHash } from 'node:crypto'
import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { expect, onTestFinished, test } from 'vitest'
import { TRIE_LIMITS } from '../../../../src/config/limits/storage.ts'
import { EMPTY_CODE_HASH, EMPTY_ROOT } from '../../../../src/state/account.ts'
import { BatchPacker } from '../../../../src/state/trie/batch.ts'
import { Trie } from '../../../../src/state/trie/trie.ts'
import { readTrieMark } from '../../../../src/state/trie/trie-rows.ts'
import { TrieService } from '../../../../src/state/trie/trie-service.ts'
import { type RowProblem, verifyRows } from '../../../../src/state/trie/verify-rows.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import type { Store, StoreEntry } from '../../../../src/storage/store.ts'
import { temporaryStore } from '../../storage/temp-store.ts'

const addressOf = (i: number): Hex => `0x${i.toString(16).padStart(40, '0')}`

const accounts = (count: number, balance: bigint) => {
  const packer = new BatchPacker()
  for (let i = 0; i < count; i++) {
    packer.account(addressOf(i), { nonce: i, balance, codeHash: i % 3 === 0 ? EMPTY_CODE_HASH : toWord(BigInt(i)) })
    for (let j = 0; j < i % 50; j++) packer.slot(toWord(BigInt(j)), toWord(BigInt(i)))
  }
  return packer.finish()
}

test('the rows are those of version 1', () => {
  const trie = new Trie({ read: () => undefined })
  trie.apply(new Uint8Array(accounts(200, 7n).buffer), false)
  const hash = createHash('sha256')
  for (const { kind, account, path, row } of trie.flush())
    for (const part of [Buffer.from(kind), account ?? '', Uint8Array.of(path.byteLength), path, row]) hash.update(part)
  // Another layout needs another version in trie-rows.ts, so that the next start builds the rows anew.
  expect(hash.digest('hex').slice(0, 32)).toBe('498a5f32f63dfd36725bf2cd649484b9')
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
  const { root } = await service.apply(EMPTY_ROOT, accounts(300, 1n))
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
    const rows = all.filter((_, i) => i % 15 === 0)
    expect(rows.length).toBeGreaterThan(1)
    for (const [key, row] of rows) {
      for (const at of [0, row.byteLength >> 1, row.byteLength - 1]) {
        const other = Uint8Array.from(row)
        other[at]! ^= 0x10
        await store.batch().put(bucket, key, other).write()
        expect(await problems()).not.toEqual([])
      }
      await store.batch().del(bucket, key).write()
      expect(await problems()).not.toEqual([])
      await store.batch().put(bucket, key, row).write()
    }
    const stray = new Uint8Array(40).fill(3)
    await store.batch().put(bucket, stray, rows[0]![1]).write()
    expect(await problems()).toHaveLength(1)
    await store.batch().del(bucket, stray).write()
  }
  expect(await problems()).toEqual([])
})
