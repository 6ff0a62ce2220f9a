import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Lru } from '@tandem/base/lru.ts'
import { describe, expect, test } from 'vitest'

describe('by entries', () => {
  test('the one unused for longest goes first; reading is use, peeking is not', () => {
    const cache = new Lru<string, number>(2)
    cache.set('a', 1)
    cache.set('b', 2)
    expect(cache.get('a')).toBe(1)
    expect(cache.peek('b')).toBe(2)
    cache.set('c', 3)
    expect([cache.has('a'), cache.has('b'), cache.has('c')]).toEqual([true, false, true])
    expect([...cache.entries()]).toEqual([
      ['a', 1],
      ['c', 3],
    ])
  })

  test('overwriting is use and does not grow', () => {
    const cache = new Lru<string, number>(2)
    for (const [key, value] of [
      ['a', 1],
      ['b', 2],
      ['a', 3],
      ['c', 4],
    ] as const)
      cache.set(key, value)
    expect([cache.get('a'), cache.get('b'), cache.get('c'), cache.size]).toEqual([3, undefined, 4, 2])
  })

  test('delete and clear', () => {
    const cache = new Lru<string, number>(2)
    cache.set('a', 1)
    expect([cache.delete('a'), cache.delete('a'), cache.size, cache.weight]).toEqual([true, false, 0, 0])
    cache.set('b', 2)
    cache.clear()
    expect([cache.size, cache.weight, cache.get('b')]).toEqual([0, 0, undefined])
  })
})

describe('by weight', () => {
  const bytes = (evicted: string[] = []) =>
    new Lru<string, Uint8Array>({ limit: 10, weigh: value => value.byteLength, onEvict: key => evicted.push(key) })

  test('as many go as the newcomer needs', () => {
    const evicted: string[] = []
    const cache = bytes(evicted)
    for (const key of ['a', 'b', 'c']) cache.set(key, new Uint8Array(3))
    cache.set('d', new Uint8Array(5))
    expect([evicted, cache.weight]).toEqual([['a', 'b'], 8])
  })

  test('one that would push out too many others is not kept', () => {
    const cache = new Lru<string, number>({ limit: 100, weigh: value => value, heaviest: 25 })
    cache.set('small', 20)
    cache.set('large', 26)
    cache.set('just', 25)
    expect([cache.get('small'), cache.get('large'), cache.get('just')]).toEqual([20, undefined, 25])
  })

  test('what is heavier than all room is not kept, and what it would replace is gone', () => {
    const cache = bytes()
    cache.set('a', new Uint8Array(4))
    cache.set('a', new Uint8Array(11))
    expect([cache.has('a'), cache.weight]).toEqual([false, 0])
  })
})

test('uses without end hold no more memory: nothing keeps the old tables of a Map', () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const heapBytes = (): number => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const cache = new Lru<number, number>(2_000)
  for (let i = 0; i < 1_000; i++) cache.set(i, i)
  const before = heapBytes()
  for (let i = 0; i < 2_000_000; i++) cache.get(i % 1_000)
  for (let i = 0; i < 500_000; i++) {
    cache.delete(i % 1_000)
    cache.set(i % 1_000, i)
  }
  // Each of the thousands of tables that were made is twenty kilobytes.
  expect(heapBytes() - before).toBeLessThan(5_000_000)
  expect(cache.size).toBe(1_000)
})
