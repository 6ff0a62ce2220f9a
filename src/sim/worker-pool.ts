import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { DrawOptions } from './plan/draw-plan.ts'
import type { SeedReport } from './run-seed.ts'

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
  let next = 0
  const work = async (): Promise<void> => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { name: 'simulation', workerData: options })
    try {
      while (next < count && signal?.aborted !== true) {
        worker.postMessage(firstSeed + next++)
        // A rejection of `once` is the thread's error.
        const [report] = (await once(worker, 'message')) as [SeedReport]
        onReport(report)
      }
    } finally {
      await worker.terminate()
    }
  }
  await Promise.all(Array.from({ length: Math.min(jobs, count) }, work))
}
