import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'

// Folder in which bin/tandem.mjs keeps stripped and compiled code: test files start hundreds of threads that load the same source.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/tandem', import.meta.url))

/** Hooks start workers and stores; the default of ten seconds is less than a slow machine may take. */
const PATIENT_HOOKS = { hookTimeout: 120_000 }

const project = (name: string, extra: object = {}) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    environment: 'node',
    pool: 'forks',
    ...PATIENT_HOOKS,
    ...extra,
  },
})

/** One more than there are cores: files of processes wait for half of their time (test/support/longest-first.ts). */
const WORKERS = { maxWorkers: Math.min(8, availableParallelism() + 1) }

/** Polls end when the answer is there; a slow machine has the time that a test has. */
const polled = (timeout: number) => ({ expect: { poll: { timeout } } })

/** The tests of processes start what users install, which takes half of the source's time. */
const PROCESSES = {
  ...{ testTimeout: 300_000, ...polled(120_000) },
  ...{ globalSetup: 'test/support/build.ts', env: { BUILD: process.env['BUILD'] ?? 'dist' } },
}
/** Files that load the machine as far as it goes, or whose figures are of the machine: beside them, others would only wait. */
const ALONE = ['committee-netem', 'hostile-flood', 'hostile-members', 'hostile-peers', 'hostile-random'].map(
  name => `test/e2e/${name}.test.ts`,
)

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      project('unit', { testTimeout: 60_000, ...polled(45_000), ...WORKERS }),
      project('property', { testTimeout: 120_000, ...WORKERS }),
      project('sim', { testTimeout: 120_000, ...WORKERS }),
      project('conformance', { testTimeout: 120_000, ...WORKERS }),
      project('e2e', { ...PROCESSES, exclude: ALONE, ...WORKERS }),
      project('e2e-alone', { ...PROCESSES, include: ALONE, maxWorkers: 1, sequence: { groupOrder: 1 } }),
    ],
  },
})
