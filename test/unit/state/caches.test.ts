import { expect, test } from 'vitest'
import { GenerationCache } from '../../../src/state/generation-cache.ts'
import { SlotCache } from '../../../src/state/slot-cache.ts'
import { address, word } from './memory-state.ts'

test('a generation cache stays within its limit and keeps what is used', () => {
  const cache = new GenerationCache<number>(10)
  cache.set('hot', 0)
  for (let i = 0; i < 1_000; i++) {
    cache.set(`cold ${i}`, i)
    expect(cache.get('hot')).toBe(0)
    expect(cache.size).toBeLessThanOrEqual(10)
  }
  expect(cache.get('cold 0')).toBeUndefined()
  expect(cache.get('cold 999')).toBe(999)
})

test('a new value replaces an old one in either generation', () => {
  const cache = new GenerationCache<number>(4)
  cache.set('a', 1)
  cache.set('b', 2)
  cache.set('a', 3)
  expect(cache.get('a')).toBe(3)
  cache.set('a', 4)
  cache.set('c', 5)
  expect(cache.get('a')).toBe(4)
})

test('a weighed cache counts weight, not entries', () => {
  const cache = new GenerationCache<Uint8Array>(100, bytes => bytes.byteLength)
  for (let i = 0; i < 50; i++) cache.set(`${i}`, new Uint8Array(10))
  expect(cache.size).toBeLessThanOrEqual(10)
  cache.set('large', new Uint8Array(1_000))
  expect(cache.get('large')?.byteLength).toBe(1_000)
})

test('a slot cache forgets, promotes and drops', () => {
  const cache = new SlotCache(8)
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
