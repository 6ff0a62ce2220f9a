import { parentPort, workerData } from 'node:worker_threads'
import { LIMITS } from '../config/limits.ts'
import { Store } from '../storage/store.ts'
import { assert } from '../util/assert.ts'
import { isCoded } from '../util/errors.ts'
import { BlockStore } from './block-store.ts'
import { queryLogs } from './log-query.ts'
import type { LogAnswer, LogJob, LogWork } from './log-service.ts'
import type { LogEntry } from './types.ts'

/**
 * The other end of LogService, called once by a worker's script: reads the store by itself and answers queries, as entries or
 * as the text that `render` makes of them, which crosses the thread border at the price of a copy.
 */
export const serveLogQueries = async (render: (entries: readonly LogEntry[]) => string): Promise<void> => {
  assert(parentPort, 'log queries are served in a thread')
  const port = parentPort
  const { storePath } = workerData as { storePath: string }
  const store = await Store.open(storePath, { createIfMissing: false })
  const blocks = new BlockStore(store)
  const limits = {
    results: LIMITS.rpc.logResults,
    timeoutMs: LIMITS.rpc.logQueryMs,
    nowMs: () => performance.now(),
  }

  const run = async ({ id, query, as }: LogJob): Promise<LogAnswer> => {
    try {
      const entries = await queryLogs(store, blocks, query, limits)
      return as === 'text' ? { id, value: render(entries) } : { id, value: entries }
    } catch (error) {
      if (isCoded(error)) return { id, error: error.detail }
      return { id, fault: error instanceof Error ? error.message : String(error) }
    }
  }
  port.on('message', (job: LogWork) => {
    if (job === 'forget') blocks.forget()
    else void run(job).then(answer => port.postMessage(answer))
  })
}
