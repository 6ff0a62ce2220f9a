import { describe, expect, test } from 'vitest'
import { ClientQueue } from '../../../../src/evm/calls/client-queue.ts'

const anybody = (_client: string): boolean => true
const drain = (queue: ClientQueue<string>, mayHave = anybody): string[] => {
  const out: string[] = []
  for (let item = queue.shift(mayHave); item !== undefined; item = queue.shift(mayHave)) out.push(item)
  return out
}
const filled = (limit: number, items: readonly string[]) => {
  const queue = new ClientQueue<string>(limit)
  const gone = items.map(item => queue.push(item[0] as string, item)).filter(item => item !== undefined)
  return { queue, gone }
}

describe('a fair queue', () => {
  test('clients take turns, each in its own order', () => {
    const { queue } = filled(10, ['a1', 'a2', 'a3', 'b1', 'c1', 'c2'])
    expect(queue.size).toBe(6)
    expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
    expect(queue.size).toBe(0)
  })

  test('a client that may have nothing now keeps its place', () => {
    const { queue } = filled(10, ['a1', 'a2', 'b1'])
    expect(drain(queue, client => client !== 'a')).toEqual(['b1'])
    expect(drain(queue)).toEqual(['a1', 'a2'])
  })

  test('a full queue drops the newest item of the client with most', () => {
    const { queue, gone } = filled(4, ['a1', 'a2', 'a3', 'b1', 'c1', 'c2'])
    // c2 would make c as long as a is: it stays outside.
    expect(gone).toEqual(['a3', 'c2'])
    expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2'])
  })

  test('all of it can be taken', () => {
    const { queue } = filled(4, ['a1', 'b1', 'a2'])
    expect(queue.takeAll().sort()).toEqual(['a1', 'a2', 'b1'])
    expect(queue.size).toBe(0)
    expect(queue.push('a', 'a3')).toBeUndefined()
  })
})
