import { type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { STATE_LIMITS } from '../../../../src/config/limits/storage.ts'
import { EMPTY_CODE_HASH, EMPTY_ROOT } from '../../../../src/state/account.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import { address, MemoryState, memoryAccount, word } from '../memory-state.ts'

const A = address(0xa)
const B = address(0xb)
const RIPEMD = address(3)

const memoryAccountOf = (codeHash: Hex) => ({ nonce: 1, balance: 0n, codeHash, storageRoot: EMPTY_ROOT })

const base = () =>
  new MemoryState(new Map([[A, memoryAccount({ nonce: 1, balance: 100n, storage: new Map([[word(1), word(7)]]) })]]))

test('reads of nothing', () => {
  const journal = new Journal(new MemoryState())
  expect(journal.account(A)).toBeUndefined()
  expect(journal.balance(A)).toBe(0n)
  expect(journal.nonce(A)).toBe(0)
  expect(journal.codeHash(A)).toBe(EMPTY_CODE_HASH)
  expect(journal.code(A).byteLength).toBe(0)
  expect(journal.storage(A, word(1))).toBe(ZERO_HASH)
  expect(journal.exists(A)).toBe(false)
  expect(journal.isEmpty(A)).toBe(true)
})

test('what goes to and fro is no change', () => {
  const journal = new Journal(base())
  journal.subBalance(A, 40n)
  journal.addBalance(B, 40n)
  journal.setStorage(A, word(1), word(8))
  journal.setNonce(A, 2)
  journal.endTransaction()
  journal.addBalance(A, 40n)
  journal.deleteAccount(B)
  journal.setStorage(A, word(1), word(7))
  journal.setNonce(A, 1)
  journal.endTransaction()
  const { accounts, storage, code, cleared } = journal.changes()
  expect([accounts.size, storage.size, code.size, cleared?.size]).toEqual([0, 0, 0, 0])
})

test('a balance below zero is a fault of the caller', () => {
  expect(() => new Journal(base()).subBalance(A, 101n)).toThrow('negative')
})

test('a revert takes back everything since its mark, and only that', () => {
  const journal = new Journal(base())
  journal.setNonce(A, 5)
  const mark = journal.checkpoint()
  journal.setNonce(A, 6)
  journal.setCode(A, Uint8Array.of(1))
  journal.setStorage(A, word(1), word(2))
  journal.deleteAccount(A)
  journal.createAccount(B)
  journal.revert(mark)
  expect(journal.account(A)).toMatchObject({ nonce: 5, balance: 100n, codeHash: EMPTY_CODE_HASH })
  expect(journal.storage(A, word(1))).toBe(word(7))
  expect(journal.exists(B)).toBe(false)
})

test('marks do not outlive their transaction', () => {
  const journal = new Journal(base())
  journal.setNonce(A, 5)
  const mark = journal.checkpoint()
  journal.endTransaction()
  expect(() => journal.revert(mark)).toThrow('running transaction')
})

test('the original word is that of the start of the transaction', () => {
  const journal = new Journal(base())
  journal.setStorage(A, word(1), word(8))
  expect(journal.originalStorage(A, word(1))).toBe(word(7))
  journal.endTransaction()
  expect(journal.originalStorage(A, word(1))).toBe(word(8))
  const mark = journal.checkpoint()
  journal.setStorage(A, word(1), word(9))
  journal.revert(mark)
  journal.setStorage(A, word(1), word(10))
  expect(journal.originalStorage(A, word(1))).toBe(word(8))
})

test('a deleted account loses its stored slots, which the changes say', () => {
  const journal = new Journal(base())
  journal.deleteAccount(A)
  journal.endTransaction()
  expect(journal.storage(A, word(1))).toBe(ZERO_HASH)
  const changes = journal.changes()
  expect(changes.accounts.get(A)).toMatchObject({ before: { balance: 100n }, after: undefined })
  expect([...(changes.cleared ?? [])]).toEqual([A])
  expect(changes.storage.get(A)?.get(word(1))).toEqual({ before: word(7), after: ZERO_HASH })
})

test('an account created over a stored one with the same fields still changes', () => {
  const state = base()
  state.accounts.get(A)!.nonce = 0
  const journal = new Journal(state)
  journal.createAccount(A)
  journal.setStorage(A, word(2), word(3))
  journal.endTransaction()
  const changes = journal.changes()
  expect(changes.accounts.has(A)).toBe(true)
  expect(journal.account(A)?.storageRoot).toBe(EMPTY_ROOT)
  expect([...(changes.cleared ?? [])]).toEqual([A])
  expect(changes.storage.get(A)?.get(word(2))).toEqual({ before: ZERO_HASH, after: word(3) })
})

test('the sweep deletes empty accounts touched by this transaction, not by one before', () => {
  const journal = new Journal(
    new MemoryState(
      new Map([
        [A, memoryAccount()],
        [B, memoryAccount()],
      ]),
    ),
  )
  journal.touch(B)
  journal.endTransaction()
  journal.touch(A)
  journal.sweepTouched()
  expect([journal.exists(A), journal.exists(B)]).toEqual([false, true])
})

test('a touch that is reverted does not count, except on RIPEMD-160', () => {
  const journal = new Journal(
    new MemoryState(
      new Map([
        [A, memoryAccount()],
        [RIPEMD, memoryAccount()],
      ]),
    ),
  )
  const mark = journal.checkpoint()
  journal.touch(A)
  journal.touch(RIPEMD)
  journal.revert(mark)
  journal.sweepTouched()
  expect([journal.exists(A), journal.exists(RIPEMD)]).toEqual([true, false])
})

test('code set in a block is read back by every account that shares it', () => {
  const journal = new Journal(new MemoryState())
  journal.setCode(A, Uint8Array.of(1, 2))
  journal.setCode(B, Uint8Array.of(1, 2))
  expect(journal.codeHash(A)).toBe(journal.codeHash(B))
  expect(journal.changes().code.size).toBe(1)
  journal.setCode(A, new Uint8Array(0))
  expect(journal.code(A).byteLength).toBe(0)
  expect(journal.codeHash(A)).toBe(EMPTY_CODE_HASH)
})

test('codes that a block reads are kept up to a limit of bytes, and read again beyond it', () => {
  const size = 24_576
  const count = Math.ceil((STATE_LIMITS.journalCodeBytes / size) * 5)
  const codeOf = (n: number): Uint8Array => new Uint8Array(size).fill(n & 255)
  let reads = 0
  const journal = new Journal({
    account: () => memoryAccountOf(word(1)),
    storage: () => ZERO_HASH,
    code(of) {
      reads++
      return codeOf(Number(of))
    },
  })
  for (let n = 0; n < count; n++) {
    journal.code(address(n))
    expect(Buffer.compare(journal.code(address(n)), codeOf(n)), 'the newest is kept').toBe(0)
  }
  expect(reads).toBe(count)
  for (let n = count - 1; n >= 0; n--) journal.code(address(n))
  const keptBytes = (2 * count - reads) * size
  expect(keptBytes).toBeGreaterThan(0)
  expect(keptBytes).toBeLessThanOrEqual(STATE_LIMITS.journalCodeBytes)
})

test('a code that was set is still there when codes that were read are forgotten', () => {
  const journal = new Journal({
    account: () => memoryAccountOf(word(1)),
    storage: () => ZERO_HASH,
    code: of => new Uint8Array(24_576).fill(Number(of) & 255),
  })
  journal.code(A)
  const mark = journal.checkpoint()
  journal.setCode(A, Uint8Array.of(1, 2))
  for (let n = 0; n < 2_000; n++) journal.code(address(1_000 + n))
  expect(journal.code(A)).toEqual(Uint8Array.of(1, 2))
  journal.revert(mark)
  expect(journal.code(A)).toEqual(new Uint8Array(24_576).fill(0xa))
})

test('a journal can stand on a journal', () => {
  const first = new Journal(base())
  first.setBalance(A, 1n)
  first.setStorage(A, word(1), word(2))
  const second = new Journal(first)
  second.setBalance(A, 5n)
  expect(second.storage(A, word(1))).toBe(word(2))
  expect(first.balance(A)).toBe(1n)
  expect(second.changes().accounts.get(A)?.before?.balance).toBe(1n)
})

test('an account that a lower journal gave storage loses it in the one above, which the changes say', () => {
  const below = new Journal(new MemoryState())
  below.setStorage(A, word(1), word(7))
  below.endTransaction()
  const above = new Journal(below)
  above.createAccount(A)
  above.setNonce(A, 2)
  above.endTransaction()
  expect([...(above.changes().cleared ?? [])]).toEqual([A])
  expect(above.storage(A, word(1))).toBe(ZERO_HASH)
})
