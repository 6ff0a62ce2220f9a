import { readAhead } from '@tandem/base/async/read-ahead.ts'
import { describe, expect, test } from 'vitest'

const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

describe('reading ahead', () => {
  test('keeps the order of the items, whichever answer comes first', async () => {
    const waits = [5, 1, 3, 0, 2]
    const read = async (ticks: number): Promise<number> => {
      for (let i = 0; i < ticks; i++) await Promise.resolve()
      return ticks
    }
    for (const width of [1, 2, 3, 9]) expect(await collect(readAhead(waits, width, read))).toEqual(waits)
    expect(await collect(readAhead([], 4, read))).toEqual([])
  })

  test('awaits as many answers as it may, and no more', async () => {
    let [under, most] = [0, 0]
    const read = async (item: number): Promise<number> => {
      most = Math.max(most, ++under)
      await new Promise(resolve => setImmediate(resolve))
      under--
      return item
    }
    await collect(readAhead([...Array(20).keys()], 4, read))
    expect([most, under]).toEqual([4, 0])
  })

  test('throws what a read throws when it is its turn, and has ended all others by then', async () => {
    const ended: number[] = []
    const read = async (item: number): Promise<number> => {
      if (item === 2) throw new Error('damaged')
      await new Promise(resolve => setImmediate(resolve))
      ended.push(item)
      return item
    }
    const found: number[] = []
    await expect(async () => {
      for await (const item of readAhead([0, 1, 2, 3, 4, 5], 3, read)) found.push(item)
    }).rejects.toThrow('damaged')
    expect(found).toEqual([0, 1])
    expect(ended).toEqual([0, 1, 3, 4])
  })

  test('ends the reads under way when its user stops', async () => {
    const ended: number[] = []
    const read = async (item: number): Promise<number> => {
      await new Promise(resolve => setImmediate(resolve))
      ended.push(item)
      return item
    }
    for await (const item of readAhead([0, 1, 2, 3], 3, read)) if (item === 0) break
    expect(ended).toEqual([0, 1, 2])
  })
})
