import { Worker } from 'node:worker_threads'
import { STATE_TEST_LIMITS } from '../../config/limits/commands.ts'
import { problemText } from './field-readers.ts'
import type { FileReport, StateTestWorkerData } from './worker.ts'

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

/** Threads that run files of state tests, one file at a time each. */
class Crew {
  readonly #options: StateTestPoolOptions
  readonly #workers = new Set<Worker>()
  readonly #idle: Worker[] = []
  /** Files that wait for a thread. */
  readonly #waiting: (() => void)[] = []
  /** Reason why a thread is about to end. */
  readonly #causes = new WeakMap<Worker, string>()
  #busy = 0
  #closed = false

  constructor(options: StateTestPoolOptions) {
    this.#options = options
  }

  /** Never rejects: a thread that ends on a file is reported as that file's problem. */
  async run(file: string): Promise<FileReport> {
    if (this.#busy < this.#options.jobs) this.#busy++
    else await new Promise<void>(resolve => this.#waiting.push(resolve))
    const report = await this.#ask(file)
    // The next waiting file takes the slot.
    const next = this.#waiting.shift()
    if (next === undefined) this.#busy--
    else next()
    return report
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#workers].map(worker => worker.terminate()))
  }

  #start(): Worker {
    const { mode, evm, forks, workerUrl } = this.#options
    const workerData: StateTestWorkerData = { mode, ...(evm && { evm }), forks }
    const worker = new Worker(workerUrl ?? new URL('./worker.ts', import.meta.url), {
      name: 'state-test',
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: STATE_TEST_LIMITS.heapMegabytes },
    })
    this.#workers.add(worker)
    worker.on('error', error => this.#causes.set(worker, problemText(error)))
    worker.once('exit', () => this.#forget(worker))
    return worker
  }

  #forget(worker: Worker): void {
    this.#workers.delete(worker)
    const at = this.#idle.indexOf(worker)
    if (at >= 0) this.#idle.splice(at, 1)
  }

  async #ask(file: string): Promise<FileReport> {
    if (this.#closed) return failed(file, 'not run')
    const worker = this.#idle.pop() ?? this.#start()
    return new Promise(resolve => {
      const onExit = (): void => resolve(failed(file, this.#causes.get(worker) ?? 'its thread ended'))
      worker.once('exit', onExit).once('message', (report: FileReport) => {
        worker.off('exit', onExit)
        this.#idle.push(worker)
        resolve(report)
      })
      worker.postMessage(file)
    })
  }
}

/** Runs files concurrently and yields their reports in the order of the files, a bounded number of them ahead of the reader. */
export async function* runStateTestFiles(
  files: readonly string[],
  options: StateTestPoolOptions,
): AsyncGenerator<FileReport, void, void> {
  const crew = new Crew(options)
  const ahead: Promise<FileReport>[] = []
  try {
    for (const file of files) {
      const first = ahead.length >= options.jobs * STATE_TEST_LIMITS.filesAheadPerJob ? ahead.shift() : undefined
      if (first !== undefined) yield await first
      ahead.push(crew.run(file))
    }
    for (const report of ahead) yield await report
  } finally {
    await crew.close()
  }
}
