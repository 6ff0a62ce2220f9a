import { describe, expect, test } from 'vitest'
import { Pacemaker } from '../../../../src/consensus/timing/pacemaker.ts'

const SECOND = 1_700_000_000
const START_MS = SECOND * 1_000
const BLOCK_MS = 250

describe('a grid of parts of a second', () => {
  test('is kept by decisions of any speed: one at once, one over the edge of its slot', () => {
    const pacemaker = new Pacemaker(BLOCK_MS)
    const opens = [0, 20, 270, 1_030, 1_045].map(ms => pacemaker.next(SECOND, START_MS + ms)! - START_MS)
    // A height whose time has passed is proposed at once, and the next one is back on the grid.
    expect(opens).toEqual([0, 250, 500, 750, 1_250])
  })

  test('heights learnt in one moment do not move the next one away', () => {
    const pacemaker = new Pacemaker(BLOCK_MS)
    for (let height = 0; height < 50; height++) pacemaker.next(SECOND, START_MS + 20)
    expect(pacemaker.next(SECOND, START_MS + 20)).toBe(START_MS + 250)
  })

  test('a height that is opened again keeps its slot', () => {
    const pacemaker = new Pacemaker(BLOCK_MS)
    pacemaker.next(SECOND, START_MS)
    const first = pacemaker.next(SECOND, START_MS + 20)
    expect(pacemaker.next(SECOND, START_MS + 90)).toBe(first)
  })

  test('a decision from a clock a little ahead does not make the next block come sooner', () => {
    const pacemaker = new Pacemaker(BLOCK_MS)
    pacemaker.next(SECOND, START_MS)
    expect(pacemaker.next(SECOND, START_MS + 10)).toBe(START_MS + 250)
    expect(pacemaker.next(SECOND, START_MS + 220)).toBe(START_MS + 500)
  })
})

test('whole seconds follow from the timestamp of the parent alone', () => {
  const pacemaker = new Pacemaker(1_000)
  for (const ms of [0, 20, 30, 5_000]) expect(pacemaker.next(SECOND, START_MS + ms)).toBe(START_MS + 1_000)
})
