import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// Folder in which bin/tandem.mjs keeps stripped and compiled code: test files start hundreds of threads that load the same source.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/tandem', import.meta.url))

const project = (name: string, extra: object = {}) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], environment: 'node', pool: 'forks', ...extra },
})

/** By default vitest leaves one core to itself, which is half of a machine of two. */
const WORKERS = { maxWorkers: availableParallelism() }

const PROCESSES = { testTimeout: 180_000, hookTimeout: 120_000 }
/** Files with a clock bound, a fault that needs the whole machine, or a look at the shared folder for temporary files. */
const ALONE = [
  'committee-*',
  'devnet-cli',
  'hostile-blocks',
  'hostile-clients',
  'hostile-flood',
  'hostile-loops',
  'hostile-members',
  'hostile-peers',
  'hostile-random',
  'localnet',
  'operations',
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
