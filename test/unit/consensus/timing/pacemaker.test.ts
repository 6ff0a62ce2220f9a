import { describe, expect, test } from 'vitest'
import { Slots } from '../../../../src/consensus/timing/pacemaker.ts'

const SECOND = 1_700_000_000
const START_MS = SECOND * 1_000
const BLOCK_MS = 250

describe('a grid of parts of a second', () => {
  test('is kept by decisions of any speed: one at once, one over the edge of its slot', () => {
    const slots = new Slots(BLOCK_MS)
    const opens = [0, 20, 270, 1_030, 1_045].map(ms => slots.next(SECOND, START_MS + ms)! - START_MS)
    // What is over is proposed at once, and the next one is back on the grid.
    expect(opens).toEqual([0, 250, 500, 750, 1_250])
  })

  test('heights learnt in one moment do not move the next one away', () => {
    const slots = new Slots(BLOCK_MS)
    for (let height = 0; height < 50; height++) slots.next(SECOND, START_MS + 20)
    expect(slots.next(SECOND, START_MS + 20)).toBe(START_MS + 250)
  })

  test('a height that is opened again keeps its slot', () => {
    const slots = new Slots(BLOCK_MS)
    slots.next(SECOND, START_MS)
    const first = slots.next(SECOND, START_MS + 20)
    expect(slots.next(SECOND, START_MS + 90)).toBe(first)
  })

  test('a decision from a clock a little ahead does not make the next block come sooner', () => {
    const slots = new Slots(BLOCK_MS)
    slots.next(SECOND, START_MS)
    expect(slots.next(SECOND, START_MS + 10)).toBe(START_MS + 250)
    expect(slots.next(SECOND, START_MS + 220)).toBe(START_MS + 500)
  })
})

test('whole seconds follow from the timestamp of the parent alone', () => {
  const slots = new Slots(1_000)
  for (const ms of [0, 20, 30, 5_000]) expect(slots.next(SECOND, START_MS + ms)).toBe(START_MS + 1_000)
})
