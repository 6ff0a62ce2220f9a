import type { Worker } from 'node:worker_threads'

/** Message that asks a worker to end; it does so in a turn of its event loop, by `process.exit` or when its work is done. */
export interface EndRequest {
  readonly end: true
}

/** Patience with a worker that is asked to end. */
const END_MS = 5_000

/**
 * Ends a worker that has a store or a database open, and resolves when its thread is gone. It is asked first: a thread terminated while it
 * opens a LevelDB iterator leaves the iterator open, and then LevelDB aborts the process at its close. One that stays busy is terminated.
 */
export const endWorker = async (worker: Worker, patienceMs = END_MS): Promise<void> => {
  // The id of a thread that has ended.
  if (worker.threadId !== -1) {
    const { promise, resolve } = Promise.withResolvers<void>()
    worker.once('exit', () => resolve())
    worker.postMessage({ end: true } satisfies EndRequest)
    const patience = setTimeout(resolve, patienceMs)
    await promise
    clearTimeout(patience)
  }
  await worker.terminate()
}
