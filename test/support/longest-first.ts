import { BaseSequencer, type TestSpecification } from 'vitest/node'

/*
 * Order of the test files. Files of processes wait for half of their time, and the others hardly ever, so both run side by side: two files
 * of processes and one of the others on two cores. Within each kind the longest begin, since these would otherwise end alone.
 */

/** Share of the workers for files of processes, as far as order can say. */
const PROCESSES = 2 / 3

/** Estimated seconds of long files on two cores; without results of earlier runs vitest knows the sizes of files only. */
export const SECONDS: Readonly<Record<string, number>> = {
  ...{ 'e2e/devnet-cli': 90, 'e2e/pages': 90, 'e2e/durability-damage': 80, 'e2e/hardhat': 60, 'e2e/durability': 50 },
  ...{ 'e2e/default-projects': 50, 'e2e/containers': 80 },
  ...{ 'e2e/snapshot': 50, 'e2e/council': 45, 'e2e/hostile-blocks': 45, 'e2e/localnet': 45, 'e2e/mining-kills': 40 },
  ...{ 'e2e/verify-kinds': 40, 'e2e/operations': 40, 'e2e/explorer-process': 40, 'e2e/foundry': 35, 'e2e/mining': 35 },
  ...{ 'e2e/network': 30, 'e2e/committee-restarts': 25, 'e2e/committee-faults': 25, 'e2e/committee-disk': 25 },
  ...{ 'e2e/verify-contract': 25, 'e2e/faucet': 25, 'e2e/evidence': 25, 'e2e/explorer-outage': 20, 'e2e/openrpc': 20 },
  ...{ 'sim/swarm': 30, 'sim/simulator-mutants': 30, 'sim/explorer': 20, 'conformance/recorded-chain': 20 },
  ...{ 'conformance/interface': 15, 'conformance/state-tests': 15, 'property/council': 10 },
  ...{ 'unit/explorer/postgres-index': 35, 'unit/explorer/verification/verification-api': 20 },
  ...{ 'unit/explorer/indexer-crash': 15, 'unit/chain/trace/traces': 15, 'unit/crypto/wasm-build': 12 },
  ...{ 'unit/evm/calls/call-service': 12, 'unit/chain/snapshot/false-data': 10 },
}
const OTHER_SECONDS = { processes: 10, work: 1.5 } as const

const secondsOf = ({ moduleId, project }: TestSpecification): number => {
  const name = moduleId.replace(/^.*\/test\/|\.test\.ts$/g, '')
  return SECONDS[name] ?? (project.name === 'e2e' ? OTHER_SECONDS.processes : OTHER_SECONDS.work)
}

/** Seconds at which each file begins when so many run at once, each as long as estimated, the longest first. */
const beginnings = (
  files: readonly TestSpecification[],
  atOnce: number,
): readonly (readonly [TestSpecification, number])[] => {
  const free = Array<number>(atOnce).fill(0)
  return files
    .toSorted((a, b) => secondsOf(b) - secondsOf(a))
    .map(file => {
      const next = free.indexOf(Math.min(...free))
      const at = free[next] as number
      free[next] = at + secondsOf(file)
      return [file, at]
    })
}

/** Returns the files of one group of projects in the order of their beginnings. */
export const sideBySide = (files: readonly TestSpecification[]): readonly TestSpecification[] => {
  const workers = Math.max(3, files[0]?.project.config.maxWorkers ?? 0)
  const atOnce = Math.floor(workers * PROCESSES)
  const processes = files.filter(({ project }) => project.name === 'e2e')
  const work = files.filter(({ project }) => project.name !== 'e2e')
  return [...beginnings(processes, atOnce), ...beginnings(work, workers - atOnce)]
    .toSorted(([, a], [, b]) => a - b)
    .map(([file]) => file)
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Files that are known to have failed come first among those of one length.
    const sorted = await super.sort(files)
    const isFirst = ({ project }: TestSpecification): boolean => project.config.sequence.groupOrder === 0
    return [...sideBySide(sorted.filter(isFirst)), ...sorted.filter(file => !isFirst(file))]
  }
}
