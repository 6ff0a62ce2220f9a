import { describe, expect, test } from 'vitest'
import { RangePlan } from '../../../../src/chain/sync/range-plan.ts'

const LIMITS = { pieceBlocks: 10, parallel: 2, pieces: 4 }
const ATTEMPTS = 3

const planFrom = (head: number) => new RangePlan<string>(head, LIMITS)

describe('plan of a range sync', () => {
  test('asks for pieces from the head on, so many at once, the last one up to the target', () => {
    const plan = planFrom(5)
    expect(plan.ask(22)).toEqual([
      { from: 6, count: 10 },
      { from: 16, count: 7 },
    ])
    expect(plan.ask(100)).toEqual([])
  })

  test('nothing is asked for at the target or beyond it', () => {
    expect(planFrom(5).ask(5)).toEqual([])
    expect(planFrom(5).ask(4)).toEqual([])
  })

  test('imports go upwards whatever order the answers have', () => {
    const plan = planFrom(0)
    const [first, second] = plan.ask(20)
    plan.arrived(second!, 10, 'second')
    expect(plan.next()).toBeUndefined()
    plan.arrived(first!, 10, 'first')
    expect(plan.next()).toEqual({ blockBatch: first, content: 'first' })
    plan.imported(10)
    expect(plan.head).toBe(10)
    expect(plan.next()).toEqual({ blockBatch: second, content: 'second' })
    plan.imported(10)
    expect(plan.next()).toBeUndefined()
    expect(plan.ask(25)).toEqual([{ from: 21, count: 5 }])
  })

  test('what a short answer leaves out is asked for before anything later', () => {
    const plan = planFrom(0)
    const [first] = plan.ask(40)
    plan.arrived(first!, 4, 'short')
    expect(plan.ask(40)).toEqual([{ from: 5, count: 6 }])
    expect(plan.next()?.blockBatch).toEqual({ from: 1, count: 4 })
  })

  test('a piece imported in part keeps its rest', () => {
    const plan = planFrom(0)
    const [first] = plan.ask(10)
    plan.arrived(first!, 10, 'whole')
    plan.imported(6, 'rest')
    expect(plan.next()).toEqual({ blockBatch: { from: 7, count: 4 }, content: 'rest' })
    plan.imported(4)
    expect(plan.head).toBe(10)
  })

  test('what waits to be imported is bounded, and the piece all wait for still gets its turn', () => {
    const plan = planFrom(0)
    const [first, second] = plan.ask(1_000)
    plan.arrived(second!, 10, '2')
    for (const blockBatch of plan.ask(1_000)) plan.arrived(blockBatch, 10, 'later')
    for (const blockBatch of plan.ask(1_000)) plan.arrived(blockBatch, 10, 'later')
    expect(plan.held).toBe(3)
    expect(plan.ask(1_000)).toEqual([])
    plan.failed(first!)
    expect(plan.ask(1_000)).toEqual([first])
    plan.arrived(first!, 5, '1')
    expect(plan.held).toBe(4)
    // Full: only what is imported next would have a place.
    expect(plan.ask(1_000)).toEqual([])
    plan.imported(5)
    expect(plan.ask(1_000)).toEqual([{ from: 6, count: 5 }])
  })

  test('a piece that failed too often ends it, others do not', () => {
    const plan = planFrom(0)
    const [first, second] = plan.ask(20)
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      plan.failed(second!)
      expect(plan.ask(20)).toEqual([second])
    }
    expect(plan.isStalled(ATTEMPTS)).toBe(false)
    for (let attempt = 1; attempt < ATTEMPTS; attempt++) {
      plan.failed(first!)
      expect(plan.ask(20)).toEqual([first])
    }
    expect(plan.isStalled(ATTEMPTS)).toBe(false)
    plan.arrived(first!, 10, 'false')
    plan.refused()
    expect(plan.next()).toBeUndefined()
    expect(plan.isStalled(ATTEMPTS)).toBe(true)
  })

  test('a late piece is asked of others too: who answers first counts, and one failure of several is none', () => {
    const plan = planFrom(0)
    const [first] = plan.ask(10)
    expect(plan.askAgain(3)).toEqual(first)
    expect(plan.askAgain(3)).toEqual(first)
    expect(plan.askAgain(3)).toBeUndefined()
    plan.failed(first!)
    expect(plan.isStalled(1)).toBe(false)
    plan.arrived(first!, 10, 'second')
    plan.arrived(first!, 10, 'third')
    expect(plan.next()?.content).toBe('second')
    expect(plan.askAgain(3)).toBeUndefined()
    plan.imported(10)
    expect(plan.head).toBe(10)
  })

  test('a late answer to a piece that was cut short meanwhile is of no use, and harms nothing', () => {
    const plan = planFrom(0)
    const [first] = plan.ask(10)
    plan.askAgain(3)
    plan.arrived(first!, 4, 'short')
    plan.refused()
    plan.arrived(first!, 10, 'late')
    expect(plan.next()).toBeUndefined()
    expect(plan.ask(10)).toEqual([
      { from: 1, count: 4 },
      { from: 5, count: 6 },
    ])
  })

  test('what is under way when a piece is imported in part keeps nothing from being asked anew', () => {
    const plan = planFrom(0)
    const [first] = plan.ask(10)
    plan.askAgain(3)
    plan.arrived(first!, 10, 'whole')
    plan.imported(6, 'rest')
    plan.arrived(first!, 10, 'late')
    plan.refused()
    expect(plan.ask(10)).toEqual([{ from: 7, count: 4 }])
  })

  test('a pushed block comes first; the rest of the batch is requested anew', () => {
    const plan = planFrom(5)
    plan.offered(1, 'pushed')
    expect(plan.next()).toEqual({ blockBatch: { from: 6, count: 1 }, content: 'pushed' })
    plan.imported(1)
    const [asked] = plan.ask(16)
    expect(asked).toEqual({ from: 7, count: 10 })
    plan.offered(1, 'pushed')
    plan.offered(1, 'again')
    expect(plan.next()?.content).toBe('pushed')
    expect(plan.ask(16)).toEqual([{ from: 8, count: 9 }])
  })
})
