import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { compiledDifference } from '../../../support/evm/compiled-difference.ts'
import { COMPILER_MUTANTS } from '../../../support/mutants/compiler-mutants.ts'
import { SEED } from '../../../support/seed.ts'

/** Random cases, beside the programs that find most of them. */
const CASES = 30

test('compiled code does what the interpreter does', async () => {
  expect(await compiledDifference({ seed: SEED, cases: 40 })).toBeNull()
})

test.each(Object.entries(COMPILER_MUTANTS))('%s is found', async (_name, { patches }) => {
  const worker = new Worker(new URL('../../../support/mutants/compiler-worker.ts', import.meta.url), {
    workerData: { patches, options: { seed: SEED, cases: CASES } },
  })
  const [difference] = await once(worker, 'message')
  expect(difference, `SEED=${SEED}`).toEqual(expect.any(String))
})
