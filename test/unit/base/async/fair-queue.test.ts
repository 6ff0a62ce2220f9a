import { FairQueue } from '@tandem/base/async/fair-queue.ts'
import { describe, expect, test } from 'vitest'

const anybody = (_owner: string): boolean => true
const drain = (queue: FairQueue<string>, mayHave = anybody): string[] => {
  const out: string[] = []
  for (let next = queue.shift(mayHave); next !== undefined; next = queue.shift(mayHave)) out.push(next.item)
  return out
}
/** Names begin with the letter of the owner. */
const filled = (limits: ConstructorParameters<typeof FairQueue>[0], items: readonly string[]) => {
  const queue = new FairQueue<string>(limits)
  const refused = items.flatMap(item => {
    const gone = queue.push(item.slice(0, 1), item)
    return gone === undefined ? [] : [`${gone.item} ${gone.full}`]
  })
  return { queue, refused }
}

test('owners are served in rotation, each in its own order', () => {
  const { queue } = filled({}, ['a1', 'a2', 'a3', 'b1', 'c1', 'c2'])
  expect(queue.size).toBe(6)
  expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
  expect(queue.isEmpty).toBe(true)
})

test('an owner that may have nothing now is passed over and keeps its place', () => {
  const { queue } = filled({}, ['a1', 'a2', 'b1'])
  expect(drain(queue, owner => owner !== 'a')).toEqual(['b1'])
  expect(drain(queue)).toEqual(['a1', 'a2'])
})

test('one item, those of an owner and all of them can be taken', () => {
  const { queue } = filled({ total: 5 }, ['a1', 'b1', 'a2', 'c1', 'c2'])
  expect([queue.remove('a', 'a2'), queue.remove('a', 'a2')]).toEqual([true, false])
  expect([queue.take('c'), queue.take('c')]).toEqual([['c1', 'c2'], []])
  expect(queue.takeAll()).toEqual(['a1', 'b1'])
  expect([queue.size, queue.push('a', 'a3')]).toEqual([0, undefined])
})

describe('a full queue', () => {
  test('refuses what is pushed', () => {
    expect(filled({ total: 2 }, ['a1', 'a2', 'b1']).refused).toEqual(['b1 total'])
    expect(filled({ total: 3, owner: 2 }, ['a1', 'a2', 'a3', 'b1', 'b2']).refused).toEqual(['a3 owner', 'b2 total'])
  })

  test('that displaces drops the newest item of the owner with most', () => {
    const { queue, refused } = filled({ total: 4, displaces: true }, ['a1', 'a2', 'a3', 'b1', 'c1', 'c2'])
    // c2 would make c as long as a is: it stays outside.
    expect(refused).toEqual(['a3 total', 'c2 total'])
    expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2'])
  })
})

test('an owner has so much weight, whatever others have, and its room comes back', () => {
  const queue = new FairQueue<string>({ owner: 100 })
  const isTaken = (owner: string, item: string, weight: number) => queue.push(owner, item, weight) === undefined
  expect([isTaken('a', 'a1', 60), isTaken('a', 'a2', 41), isTaken('b', 'b1', 100)]).toEqual([true, false, true])
  expect(isTaken('a', 'a3', 40)).toBe(true)
  expect(queue.shift(anybody)?.item).toBe('a1')
  expect([isTaken('a', 'a4', 61), isTaken('a', 'a5', 60)]).toEqual([false, true])
  expect(drain(queue)).toEqual(['b1', 'a3', 'a5'])
  expect(isTaken('a', 'a6', 100)).toBe(true)
})
