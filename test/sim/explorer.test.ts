import { describe, expect, test } from 'vitest'
import type { ExploreOptions } from '../../src/sim/explore/explorer.ts'
import { MUTANTS, type MutantName } from '../support/mutants/mutants.ts'
import { exploreMutant } from '../support/mutants/run.ts'

const at = (size: number, byzantine: number, rounds: number): ExploreOptions => ({
  size,
  byzantine,
  rounds,
  identities: false,
  maxStates: 1_000_000,
})

const report = (name: string, facts: object) => console.log(JSON.stringify({ name, ...facts }))

describe('all that can happen at one height', () => {
  test.each([at(4, 1, 4), at(5, 1, 2), at(6, 1, 2), at(7, 2, 2)])(
    '$size members, $byzantine byzantine, $rounds rounds: no fork',
    async options => {
      const { fork, ...facts } = await exploreMutant(null, options)
      report('explorer', { ...options, ...facts })
      expect(fork).toBeNull()
      expect(facts.complete).toBe(true)
      // The rounds were used: fewer states would mean that something is not reached.
      expect(facts.states).toBeGreaterThan(500)
    },
  )
})

describe('the explorer finds how each mutant forks', () => {
  const kills: Partial<Record<MutantName, ExploreOptions>> = {
    'restart forgets what is prepared': at(4, 1, 2),
    'quorum of 2f+1': at(5, 1, 2),
    'seals not bound to the round': at(4, 1, 4),
    'any prepared round instead of the highest': at(4, 1, 3),
    'justification not checked': at(4, 1, 2),
    'committee differs from round to round': { ...at(5, 1, 2), identities: true },
    'a signer counted twice in a justification': at(4, 1, 2),
    'a signer counted twice among votes': at(4, 1, 2),
    'round changes of another height accepted': at(4, 1, 2),
    'round changes of another round accepted': at(4, 1, 3),
    'a claim accepted without its prepares': at(4, 1, 3),
    'one prepare repeated accepted as proof': at(4, 1, 3),
    'no lock': at(4, 1, 2),
  }
  test.each(Object.entries(kills))('%s', async (name, options) => {
    expect(MUTANTS).toHaveProperty([name])
    const { fork, ...facts } = await exploreMutant(name as MutantName, options)
    report(name, { ...facts, fork })
    expect(fork).not.toBeNull()
  })

  test('2f+1 of six', async () => {
    expect((await exploreMutant('quorum of 2f+1', at(6, 1, 2))).fork).not.toBeNull()
  })

  test('more byzantine members than a third', async () => {
    const { fork, states } = await exploreMutant(null, at(4, 2, 2))
    report('two byzantine of four', { states, fork })
    expect(fork).not.toBeNull()
  })
})
