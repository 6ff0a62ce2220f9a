import { parentPort, workerData } from 'node:worker_threads'
import { EXPLORER_LIMITS } from '../../config/limits/explorer.ts'
import { assert } from '../../util/assert.ts'
import { Indexer } from '../indexer/indexer.ts'
import { SqliteIndex } from '../store/sqlite/sqlite-index.ts'
import { openSourceWithCalls } from './open-source.ts'
import { type ExplorerThreadStart, type FromExplorerThread, SIGNAL_HEAD } from './protocol.ts'
import { threadLogger } from './thread-logger.ts'

/* Fills the index in a thread of its own, over its own handle of the node's database. */

const port = parentPort
assert(port !== null, 'the indexer is a worker')
const { chain, indexPath, ephemeral, params, labels, signals } = workerData as ExplorerThreadStart
const counters = new Int32Array(signals)
const logger = threadLogger(port)
const { pollMs, retryMs } = EXPLORER_LIMITS.index

let isClosing = false
port.on('message', () => {
  isClosing = true
  Atomics.notify(counters, SIGNAL_HEAD)
})

const wait = (milliseconds: number): Promise<void> => new Promise(resolve => setTimeout(resolve, milliseconds))

/** Waits for a later head than the last one seen, at most for a fixed time. */
const waitForHead = async (seen: number): Promise<void> => {
  await Atomics.waitAsync(counters, SIGNAL_HEAD, seen, pollMs).value
}

const index = new SqliteIndex({ path: indexPath, ephemeral })
await index.writeLabels(labels)
port.postMessage({ type: 'opened' } satisfies FromExplorerThread)
const { source, calls } = await openSourceWithCalls(chain, params, logger)
const indexer = new Indexer({ source, calls, index, logger, nowMs: () => performance.now() })

while (!isClosing) {
  const seen = Atomics.load(counters, SIGNAL_HEAD)
  try {
    if ((await indexer.step()) === 'at the head') await waitForHead(seen)
    // Yields between two batches, so that messages are handled.
    else await new Promise(resolve => setImmediate(resolve))
  } catch (error) {
    logger.error(
      { err: error instanceof Error ? (error.stack ?? error.message) : String(error) },
      'indexing failed; it is tried again',
    )
    await wait(retryMs)
  }
}
await index.close()
await source.close()
port.close()
