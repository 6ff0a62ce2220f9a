import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { firstSeed, nextSeed, prevRandao } from '../../../../src/rules/council/cycle.ts'

const SEED: Hex = `0x${'5e'.repeat(32)}`
const TIP: Hex = `0x${'71'.repeat(32)}`
/** The text of docs/design/council.md#seed, by another keccak: the words one after the other, integers as 8 bytes. */
const hashOf = (...hex: readonly string[]): Hex =>
  bytesToHex(keccak_256(Buffer.from(hex.join('').replaceAll('0x', ''), 'hex')))

test('a seed takes in the one before, the tip and the cycle', () => {
  expect(nextSeed(SEED, TIP, 258)).toBe(hashOf(SEED, TIP, '0000000000000102'))
})

test('the first seed stands on the genesis hash', () => {
  expect(firstSeed(SEED)).toBe(hashOf(SEED, ZERO_HASH, '0000000000000000'))
})

test('PREVRANDAO is another word in each block', () => {
  expect(prevRandao(SEED, 7)).toBe(hashOf(SEED, '0000000000000007'))
  expect(prevRandao(SEED, 8)).not.toBe(prevRandao(SEED, 7))
})
