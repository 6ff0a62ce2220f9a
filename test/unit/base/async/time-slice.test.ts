import { TimeSlices } from '@tandem/base/async/time-slice.ts'
import { expect, test } from 'vitest'

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
  work(5)
  const pauses = [slices.over('light')]
  expect(slices.over('other')).toBeUndefined()
  work(90)
  pauses.push(slices.over('third'))
  for (const pause of pauses) expect(pause).toBeInstanceOf(Promise)
  await Promise.all(pauses)
})

test('the end of each turn with work is told', async () => {
  const { slices, work } = scene()
  let turns = 0
  slices.onTurnEnd(() => turns++)
  expect(slices.over('a')).toBeUndefined()
  work(12)
  expect(turns).toBe(0)
  await slices.over('a')
  expect(turns).toBe(1)
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  const last = turns
  // None without work.
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  expect(turns).toBe(last)
})

const tell = async (slices: TimeSlices, owners: readonly string[], ms: number, work: (ms: number) => void) => {
  const order: string[] = []
  const turns = new Set<number>()
  let turn = 0
  const count = (): void => {
    turn++
    if (order.length < owners.length) setImmediate(count)
  }
  setImmediate(count)
  expect(slices.over('first')).toBeUndefined()
  work(140)
  const waitAs = async (owner: string): Promise<void> => {
    await slices.over(owner)
    order.push(owner)
    turns.add(turn)
    work(ms)
  }
  await Promise.all(owners.map(waitAs))
  return { order, turns: turns.size }
}

test('owners that wait continue in rotation, heavy work once in a turn of the event loop', async () => {
  const { slices, work } = scene()
  const { order, turns } = await tell(slices, ['a', 'a', 'a', 'a', 'b', 'c'], 140, work)
  expect(order).toEqual(['a', 'b', 'c', 'a', 'a', 'a'])
  expect(turns).toBe(order.length)
})

test('light work that waits continues in one turn', async () => {
  const { slices, work } = scene()
  const { order, turns } = await tell(slices, ['a', 'a', 'a', 'a', 'b', 'c'], 0.01, work)
  expect(order).toEqual(['a', 'b', 'c', 'a', 'a', 'a'])
  expect(turns).toBe(1)
})

test('all light work of an owner continues in the turn that another one uses up', async () => {
  const { slices, work } = scene()
  const order: string[] = []
  let isNext = false
  expect(slices.over('first')).toBeUndefined()
  work(140)
  const waitAs = async (owner: string, ms: number): Promise<void> => {
    await slices.over(owner)
    if (owner === 'light') expect(isNext).toBe(false)
    order.push(owner)
    work(ms)
    if (order.length === 1) setImmediate(() => setImmediate(() => (isNext = true)))
  }
  await Promise.all([
    ...['heavy', 'heavy'].map(name => waitAs(name, 12)),
    ...Array.from({ length: 5 }, () => waitAs('light', 0.1)),
  ])
  expect(order).toEqual(['heavy', 'light', 'light', 'light', 'light', 'light', 'heavy'])
})

test('long work begins once in a turn, in rotation', async () => {
  const { slices } = scene()
  const order: string[] = []
  const turns = new Set<number>()
  let turn = 0
  const count = (): void => {
    turn++
    if (order.length < 4) setImmediate(count)
  }
  setImmediate(count)
  const waitAs = async (owner: string): Promise<void> => {
    await slices.next(owner)
    order.push(owner)
    turns.add(turn)
  }
  await Promise.all(['a', 'a', 'a', 'b'].map(waitAs))
  expect(order).toEqual(['a', 'b', 'a', 'a'])
  expect(turns.size).toBe(4)
})
