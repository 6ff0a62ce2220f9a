import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Outbox } from '../../../../src/util/async/batcher.ts'

const setUp = (limit: number) => {
  const delivered: (readonly number[])[] = []
  return { delivered, outbox: new Outbox<number>(limit, items => delivered.push(items)) }
}

test('what is added in one turn is delivered together at its end, in order', async () => {
  const { delivered, outbox } = setUp(10)
  for (const item of [1, 2, 3]) outbox.add(item)
  await Promise.resolve()
  expect(delivered).toEqual([])
  await setImmediate()
  outbox.add(4)
  await setImmediate()
  expect(delivered).toEqual([[1, 2, 3], [4]])
})

test('the limit delivers at once; nothing is delivered twice, and nothing empty', async () => {
  const { delivered, outbox } = setUp(2)
  for (const item of [1, 2, 3, 4]) outbox.add(item)
  expect(delivered).toEqual([
    [1, 2],
    [3, 4],
  ])
  await setImmediate()
  await setImmediate()
  expect(delivered).toHaveLength(2)
})
