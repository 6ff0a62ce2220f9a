import { expect, test } from 'vitest'
import { createSliceScheduler } from '../../../../../src/evm/calls/worker/slice-scheduler.ts'

test('clients take turns, however many calls each of them has', async () => {
  const scheduler = createSliceScheduler()
  const order: string[] = []
  const slices = ['many', 'many', 'many', 'many', 'one', 'two', 'two'].map(async client => {
    await scheduler.giveWay(client)
    order.push(client)
  })
  await Promise.all(slices)
  expect(order).toEqual(['many', 'one', 'two', 'many', 'two', 'many', 'many'])
})
