import { describe, expect, test } from 'vitest'
import { killsBy } from './mutants/kills.ts'
import { playMutant } from './mutants/run.ts'
import { SCENARIOS } from './mutants/scenarios.ts'

describe('a scenario shows what each mutant breaks, and nothing without it', () => {
  test.each(killsBy('scenario'))('%s', async (name, { options }) => {
    expect(await SCENARIOS[options]()).toBeNull()
    expect(await playMutant(name, options)).not.toBeNull()
  })
})
