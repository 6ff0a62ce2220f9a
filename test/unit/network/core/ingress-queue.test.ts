import { expect, test } from 'vitest'
import { IngressQueue } from '../../../../src/network/core/ingress-queue.ts'

const always = () => true
const all = (queue: IngressQueue<string>, mayGoOn: (peer: string) => boolean = always): string[] => {
  const items: string[] = []
  for (let item = queue.shift(mayGoOn); item !== undefined; item = queue.shift(mayGoOn)) items.push(item)
  return items
}

test('peers take turns, and each keeps its order', () => {
  const queue = new IngressQueue<string>(100)
  for (const item of ['a1', 'a2', 'a3']) queue.push('a', item, 10)
  for (const item of ['b1', 'b2']) queue.push('b', item, 10)
  expect(queue.isEmpty).toBe(false)
  expect(all(queue)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3'])
  expect(queue.isEmpty).toBe(true)
})

test('a peer has so many bytes, whatever others have, and its room comes back', () => {
  const queue = new IngressQueue<string>(100)
  expect([queue.push('a', 'a1', 60), queue.push('a', 'a2', 41), queue.push('b', 'b1', 100)]).toEqual([
    true,
    false,
    true,
  ])
  expect(queue.push('a', 'a3', 40)).toBe(true)
  expect(queue.shift(always)).toBe('a1')
  expect([queue.push('a', 'a4', 61), queue.push('a', 'a5', 60)]).toEqual([false, true])
  expect(all(queue)).toEqual(['b1', 'a3', 'a5'])
})

test('who may not go on is passed over and keeps its place', () => {
  const queue = new IngressQueue<string>(100)
  for (const item of ['a1', 'a2']) queue.push('a', item, 10)
  queue.push('b', 'b1', 10)
  expect(all(queue, peer => peer === 'b')).toEqual(['b1'])
  expect(all(queue)).toEqual(['a1', 'a2'])
})

test('what a peer sent that left is gone', () => {
  const queue = new IngressQueue<string>(100)
  queue.push('a', 'a1', 100)
  queue.push('b', 'b1', 1)
  expect(queue.forget('a')).toEqual(['a1'])
  expect(queue.forget('a')).toEqual([])
  expect(queue.push('a', 'a2', 100)).toBe(true)
  expect(all(queue)).toEqual(['b1', 'a2'])
})
