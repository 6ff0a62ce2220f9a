import { expect, it } from 'vitest'
import { ByteLru } from '../../../src/rpc/byte-lru.ts'

it('keeps what was used last within its bytes', () => {
  const lru = new ByteLru<number>(100)
  for (const [key, value] of Object.entries({ a: 1, b: 2, c: 3, d: 4 })) lru.set(key, value, 25)
  expect(lru.get('a')).toBe(1)
  lru.set('e', 5, 25)
  expect(lru.get('b')).toBeUndefined()
  expect([lru.get('a'), lru.get('c'), lru.get('d'), lru.get('e'), lru.bytes]).toEqual([1, 3, 4, 5, 100])
  lru.set('a', 6, 10)
  expect([lru.get('a'), lru.bytes]).toEqual([6, 85])
})

it('does not give everything up for one large value', () => {
  const lru = new ByteLru<number>(100)
  lru.set('small', 1, 20)
  lru.set('large', 2, 26)
  expect([lru.get('small'), lru.get('large')]).toEqual([1, undefined])
})
