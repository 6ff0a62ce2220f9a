import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { PROFILES } from '../../../../devtools/sim/plan/profiles.ts'
import { KILLS } from '../../../sim/mutants/kills.ts'
import type { MutantName } from '../../../sim/mutants/mutants.ts'
import { tandem } from '../../../support/command.ts'

const linesOf = (stdout: string): readonly Record<string, unknown>[] =>
  stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))

const mutated = (name: MutantName) => ({
  NODE_OPTIONS: `--import=${fileURLToPath(new URL('../../../sim/mutants/preload.ts', import.meta.url))}`,
  MUTANT: name,
})

describe('tandem sim', () => {
  test('runs a range of seeds and says what they came to, one JSON line each', async () => {
    const args = ['sim', '--seed', '7', '--seeds', '6', '--heights', '3', '--jobs', '2', '--json']
    const { stdout, code } = await tandem(args)
    const lines = linesOf(stdout)
    expect(
      lines
        .slice(0, -1)
        .map(line => line['seed'])
        .sort(),
    ).toEqual([7, 8, 9, 10, 11, 12].sort())
    for (const line of lines.slice(0, -1)) expect(line).toMatchObject({ violation: null, trace: expect.any(String) })
    expect(lines.at(-1)).toMatchObject({ totals: { seeds: 6, violations: 0, heights: expect.any(Number) } })
    expect(code).toBe(0)
  }, 60_000)

  test('a seed alone tells its trace, the same each time', async () => {
    const args = ['sim', '--seed', '7', '--heights', '3', '--nodes', '4', '--profile', 'crashes']
    const [first, second] = [await tandem(args), await tandem(args)]
    const trace = /^trace [0-9a-f]{16}$/m
    expect(first.stdout).toMatch(trace)
    expect(second.stdout.match(trace)?.[0]).toBe(first.stdout.match(trace)?.[0])
    expect(first.stdout).toContain('1 seeds, 0 violations')
  }, 60_000)

  test('a violation is reported with its seed and a small schedule, and ends in status 1', async () => {
    const name = 'what is prepared not logged'
    const kill = KILLS[name]
    const { seed, profile, heights } = kill.options as { seed: number; profile: string; heights: number }
    const args = ['sim', '--seed', String(seed), '--profile', profile, '--heights', String(heights)]
    const { stdout, code } = await tandem(args, { env: mutated(name) })
    expect(code).toBe(1)
    expect(stdout).toMatch(new RegExp(`^SEED=${seed} amnesia: member \\d forgot its commit`))
    expect(stdout).toContain(`again: tandem sim --seed ${seed} --profile ${profile} --heights ${heights}`)
    expect(stdout).toMatch(/the smallest schedule found/)
    expect(stdout).toMatch(/loses power/)
    expect(stdout).toContain('1 seeds, 1 violations')
    // The very same run of the engine as it is.
    expect((await tandem(args)).code).toBe(0)
  }, 120_000)

  test('help names every profile; wrong values are refused', async () => {
    const { stdout } = await tandem(['sim', '--help'])
    for (const [name, { summary }] of Object.entries(PROFILES)) {
      expect(stdout).toContain(name)
      expect(stdout).toContain(summary)
    }
    const { stderr, code } = await tandem(['sim', '--nodes', '0'])
    expect(stderr).toContain('whole number from 1 to 31')
    expect(code).toBe(1)
  }, 60_000)
})
