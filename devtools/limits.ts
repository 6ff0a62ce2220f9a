/** `tandem statetest`: files read ahead of the output per thread, and the heap of one thread. */
export const STATE_TEST_LIMITS = {
  fileBytes: 64 * 1024 * 1024,
  jobs: 64,
  filesAheadPerJob: 8,
  heapMegabytes: 1_024,
} as const

/** `tandem sim`: limits of one run, and attempts at shrinking a failing one. */
export const SIMULATION_LIMITS = {
  nodes: 31,
  heights: 100_000,
  faults: 100_000,
  events: 50_000_000,
  shrinkRuns: 200,
  traceLines: 60,
  jobs: 64,
} as const

/** `--chaos`: time for the nodes to be in sync again after a wave, and the allowed difference in blocks. */
export const CHAOS_LIMITS = { recoverMs: 60_000, inStepBlocks: 2 } as const

/** `tandem fixture`: file size, number of blocks, extra data of its genesis, and the gas of a simulation when the responses were recorded. */
export const FIXTURE_LIMITS = {
  chainBytes: 64 * 1024 * 1024,
  blocks: 10_000,
  extraDataBytes: 4_096,
  simulationGas: 50_000_000n,
} as const
