import { expect, test } from 'vitest'
import type { ScriptName } from '../../devtools/sim/byzantine/scripts.ts'
import { drawPlan, FAULTLESS } from '../../devtools/sim/plan/draw-plan.ts'
import type { Plan, PlannedFault, PlannedFind } from '../../devtools/sim/plan/plan.ts'
import { runSimulation } from '../../devtools/sim/simulation.ts'

/* docs/design/proof-chain.md#inclusion with four validators, a block every three seconds, and nothing wrong but what the test plans. */

const BLOCK_MS = 3_000
/** Proposer of block 2 in round 0. */
const PROPOSER = 2

interface Scene {
  readonly finds: readonly PlannedFind[]
  readonly scripts?: readonly ScriptName[]
  readonly faults?: readonly PlannedFault[]
}

const planOf = ({ finds, scripts, faults = [] }: Scene): Plan => ({
  ...drawPlan({ seed: 1, profile: 'calm', heights: 5, size: 4 }),
  blockTimeMs: BLOCK_MS,
  roundTimeoutMs: 1_000,
  executionMs: 2,
  realKeys: false,
  linkConditions: FAULTLESS,
  byzantine: scripts === undefined ? [] : [{ node: PROPOSER, scripts }],
  faults,
  mining: { forkHeight: 2, finds },
})

const foundAt = (atMs: number, ...nodes: readonly number[]): PlannedFind => ({ atMs, nodes, withheldMs: 0 })
/** Start of a run to a second of its chain: genesis is at 0, block n at n * BLOCK_MS. */
const before = (number: number, ms: number): number => number * BLOCK_MS - ms

const run = (scene: Scene) => runSimulation(planOf(scene), 10_000)
const commits = (lines: readonly string[], number: number): readonly string[] =>
  lines.filter(line => / commits /.test(line) && new RegExp(` at ${number}( |$)`).test(line))

test('a proposer that leaves out a header of two seconds loses its round, and the next one includes it in the same block', async () => {
  const finds = [foundAt(before(2, 2_000), 0)]
  const { violation, omissions, maxRound, lines } = await run({ finds, scripts: ['leaves out proof headers'] })
  expect(violation).toBeNull()
  expect({ omissions, maxRound }).toEqual({ omissions: 3, maxRound: 1 })
  for (const line of commits(lines, 2)) expect(line).toMatch(/with proof header 1$/)
  expect(commits(lines, 2)).toHaveLength(3)
})

test('one of less than a second and a half costs no member a round, and the next block includes it', async () => {
  const finds = [foundAt(before(2, 1_200), 0)]
  const { violation, omissions, maxRound, lines } = await run({ finds, scripts: ['leaves out proof headers'] })
  expect(violation).toBeNull()
  expect({ omissions, maxRound }).toEqual({ omissions: 0, maxRound: 0 })
  for (const line of commits(lines, 2)) expect(line).not.toMatch(/with proof header/)
  for (const line of commits(lines, 3)) expect(line).toMatch(/with proof header 1$/)
})

test('one that a single validator knows delays no block: the others vote, and it is included when that one proposes or all know it', async () => {
  const node = 0
  const finds = [foundAt(before(1, 2_000), node)]
  // Nobody hears it while it is found; later it tells its neighbours again with each block.
  const faults: PlannedFault[] = [
    { kind: 'partition', side: [node], oneWay: true, atMs: before(1, 2_100), forMs: 1_000 },
  ]
  const { violation, maxRound, omissions, lines } = await run({ finds, faults })
  expect(violation).toBeNull()
  expect({ omissions, maxRound }).toEqual({ omissions: 1, maxRound: 0 })
  for (const line of commits(lines, 1)) expect(line).not.toMatch(/with proof header/)
  for (const line of commits(lines, 2)) expect(line).toMatch(/with proof header 1$/)
})

test('of two found at once each may be included, and the other never is', async () => {
  const { violation, maxRound, includedProofs, foundProofs, lines } = await run({
    finds: [foundAt(before(2, 2_000), 0, 3)],
  })
  expect(violation).toBeNull()
  expect({ maxRound, includedProofs, foundProofs }).toEqual({ maxRound: 0, includedProofs: 1, foundProofs: 2 })
  expect(new Set(commits(lines, 2).map(line => line.replace(/.* commits /, ''))).size).toBe(1)
})

test('a header withheld beyond the life of its anchor is never included', async () => {
  const finds = [{ atMs: before(2, 2_000), nodes: [0], withheldMs: 5 * BLOCK_MS }]
  const { violation, includedProofs, foundProofs } = await run({ finds })
  expect({ violation, includedProofs, foundProofs }).toEqual({ violation: null, includedProofs: 0, foundProofs: 1 })
})

test('two halves that know different headers, or none, decide by round 3', async () => {
  const faults: PlannedFault[] = [
    { kind: 'partition', side: [0, 1], oneWay: false, atMs: before(2, 2_500), forMs: 8_000 },
  ]
  const { violation, includedProofs, lines } = await run({ finds: [foundAt(before(2, 2_000), 0)], faults })
  expect(violation).toBeNull()
  expect(includedProofs).toBe(1)
  expect(commits(lines, 2)).toHaveLength(4)
})
