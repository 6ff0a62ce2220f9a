import { describe, expect, test } from 'vitest'
import { drawPlan } from '../../devtools/sim/plan/draw-plan.ts'
import { runSimulation } from '../../devtools/sim/simulation.ts'
import { runSeeds } from '../../devtools/sim/swarm/worker-pool.ts'

const draw = (seed: number) => drawPlan({ seed, profile: 'swarm', heights: 4 })

describe('one seed is one run', () => {
  test.each([1, 2, 3, 5, 8, 13, 21])('seed %i happens twice in the same way, to the last byte', async seed => {
    const [first, second] = [await runSimulation(draw(seed), 100_000), await runSimulation(draw(seed), 100_000)]
    expect(first.lines.length).toBeGreaterThan(10)
    expect(second).toEqual(first)
  })

  test('whether or not it is put in words', async () => {
    const { lines: _, ...told } = await runSimulation(draw(34), 10)
    const { lines: none, ...silent } = await runSimulation(draw(34))
    expect(none).toEqual([])
    expect(silent).toEqual(told)
  })

  test('and in whichever thread, after whatever else ran there', async () => {
    const traces = new Map<number, string>()
    const onReport = ({ outcome }: { outcome: { seed: number; trace: string } }) =>
      traces.set(outcome.seed, outcome.trace)
    await runSeeds({ firstSeed: 50, count: 12, jobs: 2, profile: 'swarm', heights: 4, onReport })
    expect(traces.size).toBe(12)
    for (const [seed, trace] of traces) expect((await runSimulation(draw(seed))).trace, `seed ${seed}`).toBe(trace)
    expect(new Set(traces.values()).size).toBe(12)
  })

  test('with real keys too', async () => {
    const plan = { ...draw(55), realKeys: true, heights: 2 }
    const first = await runSimulation(plan)
    expect(first.violation).toBeNull()
    expect(await runSimulation(plan)).toEqual(first)
    expect((await runSimulation({ ...plan, realKeys: false })).trace).not.toBe(first.trace)
  })
})

test('a plan that differs in one fault is another run', async () => {
  const plan = { ...draw(6), blockTimeMs: 1_000, byzantine: [], faults: [] }
  const fault = { kind: 'crash', atMs: 1_500, forMs: 300, node: 0, point: 'now', loses: 'nothing' } as const
  const [as, other] = [await runSimulation(plan), await runSimulation({ ...plan, faults: [fault] })]
  expect([as.crashes, other.crashes]).toEqual([0, 1])
  expect(other.trace).not.toBe(as.trace)
})
