import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Folder in which bin/tandem.mjs keeps stripped and compiled code: test files start hundreds of threads that load the same source.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/tandem', import.meta.url))

const project = (name: string, extra: object = {}) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], environment: 'node', pool: 'forks', ...extra },
})

/** One more than there are cores: some tests wait for clocks, databases and processes. */
const WORKERS = { maxWorkers: availableParallelism() + 1 }

/** Polls end when the answer is there; a slow machine has the time that a test has. */
const polled = (timeout: number) => ({ expect: { poll: { timeout } } })

const PROCESSES = { testTimeout: 180_000, hookTimeout: 120_000, ...polled(60_000) }
/** Files of processes at once: most of their time they wait for blocks. */
const E2E_FILES = 3
/** Files that load the machine as far as it goes, or whose figures are of the machine: beside them, others would only wait. */
const ALONE = ['committee-netem', 'hostile-flood', 'hostile-members', 'hostile-peers', 'hostile-random'].map(
  name => `test/e2e/${name}.test.ts`,
)

/** Files of many seconds, the longest first. Without results of earlier runs vitest begins with the largest files, and these would end alone. */
const LONG = [
  ...['devnet-cli', 'pages', 'durability-damage', 'snapshot', 'durability', 'hardhat', 'hostile-blocks', 'council'],
  ...['verify-kinds', 'localnet', 'foundry', 'committee-restarts', 'operations', 'explorer-process', 'mining'],
  ...['mining-kills', 'explorer-outage', 'evidence', 'committee-faults', 'network', 'verify-contract'],
  ...['swarm', 'simulator-mutants', 'verification-api', 'postgres-index', 'indexer-crash', 'traces'],
  ...['compiler-mutants', 'wasm-build', 'call-service'],
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranks = new Map((await super.sort(files)).map((file, at) => [file, at]))
    const rank = (file: TestSpecification): number => {
      const name = file.moduleId.replace(/^.*\/|\.test\.ts$/g, '')
      const place = LONG.indexOf(name)
      return place < 0 ? LONG.length + (ranks.get(file) ?? 0) : place
    }
    const group = ({ project }: TestSpecification): number => project.config.sequence.groupOrder
    return files.toSorted(
      (a, b) => group(a) - group(b) || a.project.name.localeCompare(b.project.name) || rank(a) - rank(b),
    )
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      project('unit', { testTimeout: 60_000, ...polled(45_000), ...WORKERS }),
      project('property', { testTimeout: 120_000, ...WORKERS }),
      project('sim', { testTimeout: 120_000, ...WORKERS }),
      project('conformance', { testTimeout: 120_000, ...WORKERS }),
      project('e2e', { ...PROCESSES, exclude: ALONE, maxWorkers: E2E_FILES, sequence: { groupOrder: 1 } }),
      project('e2e-alone', { ...PROCESSES, include: ALONE, maxWorkers: 1, sequence: { groupOrder: 2 } }),
    ],
  },
})
