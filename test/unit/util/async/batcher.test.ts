import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Batcher } from '../../../../src/util/async/batcher.ts'

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
