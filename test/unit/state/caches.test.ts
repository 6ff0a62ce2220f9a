import type { Hex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { SecondChanceCache } from '../../../src/state/world/head-state.ts'
import { SlotCache } from '../../../src/state/world/slot-cache.ts'
import { address, word } from './memory-state.ts'

test('a clock cache stays within its limit and keeps what is used', () => {
  const cache = new SecondChanceCache<number>(10)
  cache.set('hot', 0)
  for (let i = 0; i < 1_000; i++) {
    cache.set(`cold ${i}`, i)
    expect(cache.get('hot')).toBe(0)
    expect(cache.size).toBeLessThanOrEqual(10)
  }
  expect(cache.get('cold 0')).toBeUndefined()
  expect(cache.get('cold 999')).toBe(999)
})

test('a clock cache in which all is used still makes room', () => {
  const cache = new SecondChanceCache<number>(3)
  for (const key of ['a', 'b', 'c']) cache.set(key, 1)
  for (const key of ['a', 'b', 'c']) cache.get(key)
  cache.set('d', 2)
  expect(cache.size).toBe(3)
  expect(cache.get('d')).toBe(2)
  cache.set('d', 3)
  expect(cache.get('d')).toBe(3)
})

test('a slot cache forgets, promotes and drops', () => {
  const cache = new SlotCache(16)
  const [A, B] = [address(1), address(2)]
  cache.set(A, word(0), word(7))
  for (let i = 0; i < 100; i++) {
    cache.set(B, word(i), word(i))
    expect(cache.get(A, word(0))).toBe(word(7))
  }
  expect(cache.get(B, word(0))).toBeUndefined()
  expect(cache.get(B, word(99))).toBe(word(99))
  cache.set(A, word(0), word(8))
  expect(cache.get(A, word(0))).toBe(word(8))
  cache.drop(A)
  expect(cache.get(A, word(0))).toBeUndefined()
  expect(cache.get(B, word(99))).toBe(word(99))
})

test('a slot cache counts what an account takes besides its slots', () => {
  const ofMany = new SlotCache(300)
  const ofOne = new SlotCache(300)
  for (let i = 0; i < 140; i++) {
    ofMany.set(address(i), word(0), word(7))
    ofOne.set(address(0), word(i), word(7))
  }
  const kept = (cache: SlotCache, at: (i: number) => [Hex, Hex]) =>
    Array.from({ length: 140 }, (_, i) => 139 - i).filter(i => cache.get(...at(i)) !== undefined).length
  expect(kept(ofOne, i => [address(0), word(i)])).toBe(140)
  expect(kept(ofMany, i => [address(i), word(0)])).toBeLessThan(100)
  for (let i = 0; i < 1_000; i++) {
    ofMany.set(address(i), word(0), word(7))
    ofMany.drop(address(i))
  }
  ofMany.set(address(7), word(0), word(7))
  for (let i = 0; i < 40; i++) ofMany.set(address(7), word(i), word(7))
  expect(ofMany.get(address(7), word(0))).toBe(word(7))
})
