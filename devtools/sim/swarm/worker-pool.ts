import { WorkerPool } from '@tandem/base/worker/worker-pool.ts'
import type { DrawOptions } from '../plan/draw-plan.ts'
import type { SeedReport } from './run-seed.ts'
import type { SimulationMethods } from './worker.ts'

interface SimulationPoolOptions extends Omit<DrawOptions, 'seed'> {
  readonly firstSeed: number
  readonly count: number
  /** Number of threads. */
  readonly jobs: number
  /** Called for every finished seed. */
  readonly onReport: (report: SeedReport) => void
  /** No further seed is started after an abort. */
  readonly signal?: AbortSignal | undefined
}

/** Runs many seeds on several threads. Rejects when a thread fails: a simulation itself never throws. */
export const runSeeds = async ({
  firstSeed,
  count,
  jobs,
  onReport,
  signal,
  ...options
}: SimulationPoolOptions): Promise<void> => {
  const url = new URL('./worker.ts', import.meta.url)
  const pool = new WorkerPool<SimulationMethods>({ name: 'simulation', url, data: options, size: jobs })
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count && signal?.aborted !== true) onReport(await pool.call('run', firstSeed + next++))
  }
  try {
    await Promise.all(Array.from({ length: Math.min(jobs, count) }, work))
  } finally {
    await pool.close()
  }
}
