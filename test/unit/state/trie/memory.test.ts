import { bytesToHex, type Hex, toWord } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { keccak256 } from '../../../../src/crypto/hash.ts'
import { EMPTY_CODE_HASH, EMPTY_ROOT } from '../../../../src/state/account.ts'
import { BatchPacker } from '../../../../src/state/batch.ts'
import { Trie } from '../../../../src/state/trie/trie.ts'

const addressOf = (i: number): Hex => `0x${i.toString(16).padStart(40, '0')}`
const fields = (balance: bigint) => ({ nonce: 1, balance, codeHash: EMPTY_CODE_HASH })
const bytesOf = (packer: BatchPacker): Uint8Array => new Uint8Array(packer.finish().buffer)

/** Contracts from .. to with their storage of `slots` words each, all of a size that changes with the round. */
const put = (from: number, to: number, slots: number, round: number): Uint8Array => {
  const packer = new BatchPacker()
  for (let i = from; i < to; i++) {
    packer.account(addressOf(i), fields(BigInt(i) << BigInt((round % 7) * 20)), { clearStorage: true })
    for (let slot = 0; slot < slots; slot++)
      packer.slot(toWord(BigInt(slot)), toWord((1n << BigInt((round * 37) % 250)) + BigInt(slot)))
  }
  return bytesOf(packer)
}
const remove = (from: number, to: number): Uint8Array => {
  const packer = new BatchPacker()
  for (let i = from; i < to; i++) packer.account(addressOf(i), undefined)
  return bytesOf(packer)
}

test('freed nodes are reused: memory stands still under churn', () => {
  const trie = new Trie()
  const turn = (round: number): void => {
    trie.apply(put(0, 300, 20, round), round % 2 === 0)
    trie.apply(put(300, 600, 3, round), true)
    trie.apply(remove(150, 450), round % 3 === 0)
  }
  // Until every size of node has been at its peak once.
  for (let round = 0; round < 40; round++) turn(round)
  const settled = trie.stats().memoryBytes
  for (let round = 40; round < 120; round++) turn(round)
  expect(trie.stats().memoryBytes).toBe(settled)
})

test('an emptied trie holds no node, and its memory serves the next one', () => {
  const trie = new Trie()
  trie.apply(put(0, 2_000, 5, 1), false)
  const full = trie.stats()
  trie.apply(remove(0, 2_000), true)
  const empty = trie.stats()
  expect(bytesToHex(trie.root())).toBe(EMPTY_ROOT)
  expect(empty).toMatchObject({ accounts: 0, usedBytes: 0 })
  expect(empty.freeBytes).toBeGreaterThanOrEqual(full.usedBytes)
  trie.apply(put(0, 2_000, 5, 1), false)
  expect(trie.stats().usedBytes).toBe(full.usedBytes)
  expect(trie.stats().memoryBytes - empty.memoryBytes).toBeLessThan(full.usedBytes / 10)
})

test('an account takes about 110 bytes', () => {
  const trie = new Trie()
  const packer = new BatchPacker()
  const accounts = 20_000
  for (let i = 0; i < accounts; i++) packer.account(addressOf(i), fields(10n ** 18n + BigInt(i)))
  trie.apply(bytesOf(packer), false)
  expect(trie.stats().usedBytes / accounts).toBeLessThan(115)
})

test('a batch larger than any before it makes room', () => {
  const trie = new Trie()
  trie.apply(put(0, 1, 1, 1), true)
  const packer = new BatchPacker()
  packer.account(addressOf(0), 'keep')
  for (let slot = 0; slot < 50_000; slot++)
    packer.slot(bytesToHex(keccak256(Buffer.from(String(slot)))), Uint8Array.of(1))
  const { fault } = trie.apply(bytesOf(packer), true)
  expect(fault).toBeUndefined()
  expect(trie.stats().accounts).toBe(1)
})
