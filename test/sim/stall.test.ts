import { expect, test } from 'vitest'
import { drawPlan, FAULTLESS } from '../../devtools/sim/plan/draw-plan.ts'
import type { Plan, PlannedFault, PlannedFind } from '../../devtools/sim/plan/plan.ts'
import { runSimulation } from '../../devtools/sim/simulation.ts'

/*
 * Four validators whose main chain stands still for 200 s after block 4 while miners go on. Anchors are main blocks: the proof chain can gain
 * one header above the last block and then waits, and no time of the stall counts for its difficulty (the simulator recomputes every target).
 */

const BLOCK_MS = 1_000
const STALL_AT_MS = 4_500
const STALL_MS = 200_000
const END_MS = STALL_AT_MS + STALL_MS
/** The main chain goes on within a few rounds. */
const RESTART_MS = 20_000

const foundAt = (atMs: number, ...nodes: readonly number[]): PlannedFind => ({ atMs, nodes, withheldMs: 0 })

const finds: readonly PlannedFind[] = [
  foundAt(2_500, 0),
  // In one half, then in the other, which does not know the first.
  foundAt(STALL_AT_MS + 2_000, 0),
  foundAt(STALL_AT_MS + 60_000, 2),
  // No anchor is left for a second one.
  ...[0, 1, 2, 3].map(node => foundAt(STALL_AT_MS + 120_000 + node, node)),
  foundAt(END_MS + RESTART_MS + 5_000, 3),
]

const planOf = (faults: readonly PlannedFault[]): Plan => ({
  ...drawPlan({ seed: 1, profile: 'calm', heights: 60, size: 4 }),
  blockTimeMs: BLOCK_MS,
  roundTimeoutMs: 1_000,
  executionMs: 2,
  realKeys: false,
  linkConditions: FAULTLESS,
  byzantine: [],
  faults,
  faultsMs: END_MS + RESTART_MS + 20_000,
  mining: { forkHeight: 3, finds },
})

const during = { atMs: STALL_AT_MS, forMs: STALL_MS }
const halves: readonly PlannedFault[] = [{ ...during, kind: 'partition', side: [0, 1], oneWay: false }]

/** Milliseconds at which something was noted, by the text after the time. */
const timesOf = (lines: readonly string[], text: RegExp): readonly number[] =>
  lines.filter(line => text.test(line)).map(line => Number(line.slice(0, line.indexOf(' ms')).replaceAll(',', '')))

test('a main chain that stands still for 200 s stops the proof chain after one header, and both go on', async () => {
  const { violation, includedProofs, lines } = await runSimulation(planOf(halves), 100_000)
  expect(violation).toBeNull()
  const stalled = (ms: number) => ms > STALL_AT_MS + BLOCK_MS && ms < END_MS
  expect(timesOf(lines, / commits /).filter(stalled)).toEqual([])
  const restarted = timesOf(lines, / commits /).find(ms => ms >= END_MS) as number
  expect(restarted).toBeLessThan(END_MS + RESTART_MS)
  // Each half has found one on the last block, and nothing after it.
  expect(timesOf(lines, /finds proof header 2, version 1, on block 4/)).toEqual([
    STALL_AT_MS + 2_000,
    STALL_AT_MS + 60_000,
  ])
  expect(timesOf(lines, /finds proof header/).filter(stalled)).toHaveLength(2)
  // One of the two is included by the first blocks, and the chain of headers goes on across its fork.
  const included = timesOf(lines, /with proof header 2$/)
  expect(included).toHaveLength(4)
  expect(Math.min(...included)).toBeGreaterThan(END_MS)
  expect(Math.max(...included)).toBeLessThan(restarted + 5 * BLOCK_MS)
  expect(timesOf(lines, /finds proof header 3, version 2/)).toHaveLength(1)
  expect(timesOf(lines, /with proof header 3$/)).toHaveLength(4)
  expect(includedProofs).toBe(3)
})

test('the same where two validators stand still instead, which their peers still count as reachable', async () => {
  const pauses = [2, 3].map((node): PlannedFault => ({ ...during, kind: 'pause', node }))
  const { violation, includedProofs, lines } = await runSimulation(planOf(pauses), 100_000)
  expect(violation).toBeNull()
  const stalled = (ms: number) => ms > STALL_AT_MS + BLOCK_MS && ms < END_MS
  expect(timesOf(lines, / commits /).filter(stalled)).toEqual([])
  expect(timesOf(lines, / commits /).find(ms => ms >= END_MS)).toBeLessThan(END_MS + RESTART_MS)
  expect(timesOf(lines, /with proof header 2$/)).toHaveLength(4)
  expect(timesOf(lines, /with proof header 3$/)).toHaveLength(4)
  expect(includedProofs).toBe(3)
})
