import { expect, test } from 'vitest'
import { Held } from '../../../../src/network/core/ingress-queue.ts'

const always = () => true
const all = (held: Held<string>, mayGoOn: (peer: string) => boolean = always): string[] => {
  const items: string[] = []
  for (let item = held.shift(mayGoOn); item !== undefined; item = held.shift(mayGoOn)) items.push(item)
  return items
}

test('peers take turns, and each keeps its order', () => {
  const held = new Held<string>(100)
  for (const item of ['a1', 'a2', 'a3']) held.push('a', item, 10)
  for (const item of ['b1', 'b2']) held.push('b', item, 10)
  expect(held.isEmpty).toBe(false)
  expect(all(held)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3'])
  expect(held.isEmpty).toBe(true)
})

test('a peer has so many bytes, whatever others have, and its room comes back', () => {
  const held = new Held<string>(100)
  expect([held.push('a', 'a1', 60), held.push('a', 'a2', 41), held.push('b', 'b1', 100)]).toEqual([true, false, true])
  expect(held.push('a', 'a3', 40)).toBe(true)
  expect(held.shift(always)).toBe('a1')
  expect([held.push('a', 'a4', 61), held.push('a', 'a5', 60)]).toEqual([false, true])
  expect(all(held)).toEqual(['b1', 'a3', 'a5'])
})

test('who may not go on is passed over and keeps its place', () => {
  const held = new Held<string>(100)
  for (const item of ['a1', 'a2']) held.push('a', item, 10)
  held.push('b', 'b1', 10)
  expect(all(held, peer => peer === 'b')).toEqual(['b1'])
  expect(all(held)).toEqual(['a1', 'a2'])
})

test('what a peer sent that left is gone', () => {
  const held = new Held<string>(100)
  held.push('a', 'a1', 100)
  held.push('b', 'b1', 1)
  expect(held.forget('a')).toEqual(['a1'])
  expect(held.forget('a')).toEqual([])
  expect(held.push('a', 'a2', 100)).toBe(true)
  expect(all(held)).toEqual(['b1', 'a2'])
})
