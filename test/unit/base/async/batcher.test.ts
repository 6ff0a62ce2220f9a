import { setImmediate } from 'node:timers/promises'
import { Batcher } from '@tandem/base/async/batcher.ts'
import { expect, test } from 'vitest'

test('while as many deliveries are under way as may be, items wait together for the end of one, but not more than the limit', async () => {
  const under: PromiseWithResolvers<void>[] = []
  const delivered: (readonly number[])[] = []
  const batcher = new Batcher<number>(
    3,
    items => {
      delivered.push(items)
      const delivery = Promise.withResolvers<void>()
      under.push(delivery)
      return delivery.promise
    },
    1,
  )
  batcher.add(1)
  await setImmediate()
  batcher.add(2)
  await setImmediate()
  batcher.add(3)
  await setImmediate()
  expect(delivered).toEqual([[1]])
  under[0]?.resolve()
  await setImmediate()
  expect(delivered).toEqual([[1], [2, 3]])
  for (const item of [4, 5, 6]) batcher.add(item)
  expect(delivered).toEqual([[1], [2, 3], [4, 5, 6]])
  batcher.add(7)
  under[1]?.reject(new Error('a failed delivery has ended too'))
  under[2]?.resolve()
  await setImmediate()
  expect(delivered).toEqual([[1], [2, 3], [4, 5, 6], [7]])
})

const setUp = (limit: number) => {
  const delivered: (readonly number[])[] = []
  return { delivered, batcher: new Batcher<number>(limit, items => delivered.push(items)) }
}

test('what is added in one turn is delivered together at its end, in order', async () => {
  const { delivered, batcher } = setUp(10)
  for (const item of [1, 2, 3]) batcher.add(item)
  await Promise.resolve()
  expect(delivered).toEqual([])
  await setImmediate()
  batcher.add(4)
  await setImmediate()
  expect(delivered).toEqual([[1, 2, 3], [4]])
})

test('the limit delivers at once; nothing is delivered twice, and nothing empty', async () => {
  const { delivered, batcher } = setUp(2)
  for (const item of [1, 2, 3, 4]) batcher.add(item)
  expect(delivered).toEqual([
    [1, 2],
    [3, 4],
  ])
  await setImmediate()
  await setImmediate()
  expect(delivered).toHaveLength(2)
})
