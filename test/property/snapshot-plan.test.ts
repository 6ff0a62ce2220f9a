import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ChunkPlan } from '../../src/chain/snapshot/sync/chunk-plan.ts'
import { SEED } from '../support/seed.ts'

test('every chunk of the range comes in once, those that were in never again, however answers fail and in whatever order they come', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 0, max: 60 }),
      fc.uniqueArray(fc.nat(100)),
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.record({ which: fc.nat(5), fails: fc.boolean() }), { maxLength: 100 }),
      (from, count, done, parallel, answers) => {
        const to = from + count
        const plan = new ChunkPlan({ from, to, done: new Set(done), parallel })
        const came: number[] = []
        const underWay: number[] = []
        for (let step = 0; !plan.isDone; step++) {
          underWay.push(...plan.ask())
          expect(underWay.length).toBeLessThanOrEqual(parallel)
          expect(underWay.length).toBeGreaterThan(0)
          const { which, fails } = answers[step] ?? { which: 0, fails: false }
          const [index] = underWay.splice(which % underWay.length, 1) as [number]
          if (fails) plan.failed(index)
          else {
            plan.imported(index)
            came.push(index)
          }
        }
        const wanted = Array.from({ length: count }, (_, at) => from + at).filter(index => !done.includes(index))
        expect(came.toSorted((a, b) => a - b)).toEqual(wanted)
        expect(plan.ask()).toEqual([])
      },
    ),
    { seed: SEED, numRuns: 300 },
  )
})

test('what failed comes before what was never asked for, and failures count until something comes in', () => {
  const plan = new ChunkPlan({ from: 3, to: 9, done: new Set([4]), parallel: 2 })
  expect(plan.ask()).toEqual([3, 5])
  expect(plan.ask()).toEqual([])
  plan.failed(5)
  plan.failed(3)
  expect(plan.failures).toBe(2)
  expect(plan.ask()).toEqual([3, 5])
  plan.imported(5)
  expect(plan.failures).toBe(0)
  expect(plan.ask()).toEqual([6])
  expect(() => plan.imported(5)).toThrow('belongs to a request')
})
