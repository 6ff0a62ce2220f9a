import { describe, expect, test } from 'vitest'
import { exploring, killsBy } from './mutants/kills.ts'
import { exploreMutant } from './mutants/run.ts'

const report = (name: string, facts: object) => console.log(JSON.stringify({ name, ...facts }))

describe('all that can happen at one height', () => {
  test.each([exploring(4, 1, 4), exploring(5, 1, 2), exploring(6, 1, 2), exploring(7, 2, 2)])(
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
  test.each(killsBy('explorer'))('%s', async (name, { options }) => {
    const { fork, ...facts } = await exploreMutant(name, options)
    report(name, { ...facts, fork })
    expect(fork).not.toBeNull()
  })

  test('2f+1 of six', async () => {
    expect((await exploreMutant('quorum of 2f+1', exploring(6, 1, 2))).fork).not.toBeNull()
  })

  test('more byzantine members than a third', async () => {
    const { fork, states } = await exploreMutant(null, exploring(4, 2, 2))
    report('two byzantine of four', { states, fork })
    expect(fork).not.toBeNull()
  })
})
