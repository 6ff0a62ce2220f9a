import { expect, test } from 'vitest'
import { TimeSlices } from '../../../../src/util/async/time-slice.ts'

const scene = () => {
  let nowMs = 0
  const slices = new TimeSlices(() => nowMs)
  const work = (ms: number): void => {
    nowMs += ms
  }
  return { slices, work }
}

test('work goes on while there is time, and waits when the turn is over', async () => {
  const { slices, work } = scene()
  expect(slices.over('a')).toBeUndefined()
  work(9)
  expect(slices.over('a')).toBeUndefined()
  work(2)
  const pause = slices.over('a')
  expect(pause).toBeInstanceOf(Promise)
  await pause
  expect(slices.over('a')).toBeUndefined()
})

test('an owner that has done nothing in the turn does not wait for the work of others', async () => {
  const { slices, work } = scene()
  expect(slices.over('heavy')).toBeUndefined()
  work(12)
  expect(slices.over('light')).toBeUndefined()
  work(0.1)
  expect(slices.over('light')).toBeUndefined()
  const pause = slices.over('heavy')
  expect(pause).toBeInstanceOf(Promise)
  await pause
})

test('but its own work counts, and the turn has an end for all', async () => {
  const { slices, work } = scene()
  expect(slices.over('heavy')).toBeUndefined()
  work(12)
  expect(slices.over('light')).toBeUndefined()
  work(2)
  const pauses = [slices.over('light')]
  expect(slices.over('other')).toBeUndefined()
  work(20)
  pauses.push(slices.over('third'))
  for (const pause of pauses) expect(pause).toBeInstanceOf(Promise)
  await Promise.all(pauses)
})

test('owners that wait continue in rotation, one in a turn of the event loop', async () => {
  const { slices } = scene()
  const order: string[] = []
  const turns = new Set<number>()
  let turn = 0
  const count = (): void => {
    turn++
    if (order.length < 6) setImmediate(count)
  }
  setImmediate(count)
  const waitAs = async (owner: string): Promise<void> => {
    await slices.next(owner)
    order.push(owner)
    turns.add(turn)
  }
  await Promise.all(['a', 'a', 'a', 'a', 'b', 'c'].map(waitAs))
  expect(order).toEqual(['a', 'b', 'c', 'a', 'a', 'a'])
  expect(turns.size).toBe(order.length)
})
