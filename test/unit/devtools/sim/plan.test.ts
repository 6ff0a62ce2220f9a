import { describe, expect, test } from 'vitest'
import { CRASH_POINTS } from '../../../../devtools/sim/member/crash-points.ts'
import { describePlan } from '../../../../devtools/sim/plan/describe-plan.ts'
import { drawPlan } from '../../../../devtools/sim/plan/draw-plan.ts'
import type { Plan } from '../../../../devtools/sim/plan/plan.ts'
import { PROFILE_NAMES } from '../../../../devtools/sim/plan/profiles.ts'
import { shrink } from '../../../../devtools/sim/swarm/shrink.ts'
import { faultsOf } from '../../../../src/rules/council/quorum.ts'

const seeds = Array.from({ length: 400 }, (_, seed) => seed)
const swarm = seeds.map(seed => drawPlan({ seed, profile: 'swarm', heights: 6 }))

describe('what a seed stands for', () => {
  test('is the same each time', () => {
    for (const profile of PROFILE_NAMES) {
      const options = { seed: 77, profile, heights: 9 }
      expect(drawPlan(options)).toEqual(drawPlan(options))
    }
  })

  test('tolerates its Byzantine members, and never takes the log of more members than may be faulty', () => {
    for (const { size, byzantine, faults, council } of swarm) {
      const bad = new Set(byzantine.map(({ node }) => node))
      expect(bad.size).toBeLessThanOrEqual(faultsOf(size))
      const lost = new Set<number>()
      for (const plannedFault of faults) {
        if (plannedFault.kind !== 'partition') expect(bad.has(plannedFault.node)).toBe(false)
        if (plannedFault.kind === 'crash' && plannedFault.loses !== 'nothing') lost.add(plannedFault.node)
      }
      expect(lost.size + bad.size).toBeLessThanOrEqual(
        faultsOf(council?.smallest ?? size) + (lost.size === 0 ? bad.size : 0),
      )
    }
  })

  test('uses everything there is', () => {
    const faults = swarm.flatMap(plan => plan.faults)
    const points = new Set(faults.flatMap(plannedFault => (plannedFault.kind === 'crash' ? [plannedFault.point] : [])))
    expect([...points].sort()).toEqual([...CRASH_POINTS].sort())
    expect(new Set(faults.map(({ kind }) => kind)).size).toBe(4)
    expect(swarm.filter(({ realKeys }) => realKeys).length).toBeGreaterThan(0)
    expect(swarm.filter(({ council }) => council !== null).length).toBeGreaterThan(50)
    expect(new Set(swarm.map(({ size }) => size)).size).toBe(7)
  })

  test('has nothing wrong in calm, and as many nodes as asked for', () => {
    const plan = drawPlan({ seed: 1, profile: 'calm', heights: 6, size: 5 })
    expect(plan).toMatchObject({ size: 5, faults: [], byzantine: [], council: null, linkConditions: { loss: 0 } })
  })

  test('can be read', () => {
    for (const plan of swarm) {
      const lines = describePlan(plan)
      expect(lines.length).toBeGreaterThanOrEqual(3 + plan.faults.length)
      expect(lines.join()).not.toMatch(/undefined|NaN|\[object/)
    }
  })
})

describe('a failing plan gets smaller', () => {
  const guilty = (plan: Plan) =>
    plan.faults.some(plannedFault => plannedFault.kind === 'crash' && plannedFault.point === 'after a sync') &&
    plan.faults.some(plannedFault => plannedFault.kind === 'pause')
  const plan = swarm.find(candidate => guilty(candidate) && candidate.faults.length > 20 && candidate.size > 3)!

  test('down to what it takes to break the same rule', async () => {
    const breaks = async (candidate: Plan) => (guilty(candidate) ? ('lock' as const) : null)
    const small = await shrink(plan, 'lock', breaks, 1_000)
    expect(small.plan.faults).toHaveLength(2)
    expect(small.plan).toMatchObject({ council: null, byzantine: [], linkConditions: { loss: 0 } })
    expect(small.plan.size).toBeLessThanOrEqual(2)
    expect(small.plan.heights).toBeLessThan(plan.heights)
  })

  test('not into one that breaks another rule, and within the runs it has', async () => {
    let runs = 0
    const breaks = async () => {
      runs++
      return 'jump' as const
    }
    expect(await shrink(plan, 'lock', breaks, 7)).toEqual({ plan, runs: 7 })
    expect(runs).toBe(7)
  })
})
