import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const project = (name: string, extra: object = {}) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], environment: 'node', pool: 'forks', ...extra },
})

/** By default vitest leaves one core to itself, which is half of a machine of two. */
const WORKERS = { maxWorkers: availableParallelism() }

const PROCESSES = { testTimeout: 180_000, hookTimeout: 120_000 }
/** Files with a committee of processes, an attack, a promise of time or a look at the shared folder for temporary files. */
const ALONE = [
  'committee-*',
  'council',
  'containers',
  'devnet-cli',
  'evidence',
  'halts',
  'hostile*',
  'localnet',
  'operations',
  'snapshot',
].map(name => `test/e2e/${name}.test.ts`)

export default defineConfig({
  test: {
    projects: [
      project('unit', { testTimeout: 20_000, ...WORKERS }),
      project('property', { testTimeout: 120_000, ...WORKERS }),
      project('sim', { testTimeout: 120_000, ...WORKERS }),
      project('conformance', { testTimeout: 120_000, ...WORKERS }),
      project('e2e', { ...PROCESSES, exclude: ALONE, maxWorkers: 2, sequence: { groupOrder: 1 } }),
      project('e2e-alone', { ...PROCESSES, include: ALONE, maxWorkers: 1, sequence: { groupOrder: 2 } }),
    ],
  },
})
