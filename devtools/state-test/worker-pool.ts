import { isCoded } from '@tandem/base/errors.ts'
import { WorkerEnded } from '@tandem/base/worker/protocol.ts'
import { WorkerPool } from '@tandem/base/worker/worker-pool.ts'
import { STATE_TEST_LIMITS } from '../limits.ts'
import { problemText } from './field-readers.ts'
import type { FileReport, StateTestMethods, StateTestWorkerData } from './worker.ts'

export interface StateTestPoolOptions extends StateTestWorkerData {
  /** Number of threads. */
  readonly jobs: number
  /** The worker's file, for a bundle with another layout. */
  readonly workerUrl?: URL
}

const failed = (file: string, problem: string): FileReport => ({
  file,
  lines: '',
  passed: 0,
  failed: 0,
  skipped: 0,
  problem,
})

const createPool = ({ mode, forks, jobs, workerUrl }: StateTestPoolOptions): WorkerPool<StateTestMethods> => {
  const data: StateTestWorkerData = { mode, forks }
  return new WorkerPool({
    name: 'state-test',
    url: workerUrl ?? new URL('./worker.ts', import.meta.url),
    data,
    limits: { maxOldGenerationSizeMb: STATE_TEST_LIMITS.heapMegabytes },
    size: jobs,
    inFlight: 1,
  })
}

/** Never rejects: a worker that ends on a file is reported as that file's problem. */
const runFile = async (pool: WorkerPool<StateTestMethods>, file: string): Promise<FileReport> => {
  try {
    return await pool.call('run', file)
  } catch (error) {
    if (isCoded(error) && error.code === 'WORKER_CLOSED') return failed(file, 'not run')
    if (!(error instanceof WorkerEnded)) return failed(file, problemText(error))
    return failed(file, error.cause === undefined ? 'its thread ended' : problemText(error.cause))
  }
}

/** Runs files concurrently and yields their reports in the order of the files, a bounded number of them ahead of the reader. */
export async function* runStateTestFiles(
  files: readonly string[],
  options: StateTestPoolOptions,
): AsyncGenerator<FileReport, void, void> {
  const pool = createPool(options)
  const ahead: Promise<FileReport>[] = []
  try {
    for (const file of files) {
      const first = ahead.length >= options.jobs * STATE_TEST_LIMITS.filesAheadPerJob ? ahead.shift() : undefined
      if (first !== undefined) yield await first
      ahead.push(runFile(pool, file))
    }
    for (const report of ahead) yield await report
  } finally {
    await pool.close()
  }
}
