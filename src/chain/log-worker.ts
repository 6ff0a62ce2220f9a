import { parentPort, workerData } from 'node:worker_threads'
import { LIMITS } from '../config/limits.ts'
import { Store } from '../storage/store.ts'
import { assert } from '../util/assert.ts'
import { isCoded } from '../util/errors.ts'
import { BlockStore } from './block-store.ts'
import { queryLogs } from './log-query.ts'
import type { LogAnswer, LogJob } from './log-service.ts'

assert(parentPort, 'the log worker runs in a thread')
const port = parentPort
const { storePath } = workerData as { storePath: string }
const store = await Store.open(storePath, { createIfMissing: false })
const blocks = new BlockStore(store)
const limits = {
  results: LIMITS.rpc.logResults,
  timeoutMs: LIMITS.rpc.logQueryMs,
  nowMs: () => performance.now(),
}

const run = async ({ id, query }: LogJob): Promise<LogAnswer> => {
  try {
    return { id, entries: await queryLogs(store, blocks, query, limits) }
  } catch (error) {
    if (isCoded(error)) return { id, error: error.detail }
    return { id, fault: error instanceof Error ? error.message : String(error) }
  }
}

port.on('message', (job: LogJob) => {
  void run(job).then(answer => port.postMessage(answer))
})
