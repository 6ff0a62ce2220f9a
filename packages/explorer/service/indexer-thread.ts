import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '@tandem/base/assert.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { NodeClient } from '../chain/node-client.ts'
import { nodeCall } from '../chain/node-port.ts'
import { RpcChain } from '../chain/rpc-chain.ts'
import { Indexer } from '../indexer/indexer.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import { openIndex } from '../store/open-index.ts'
import type { SqlIndex } from '../store/sql/sql-index.ts'
import { IndexerRetries } from './indexer-health.ts'
import { type ExplorerThreadStart, type FromExplorerThread, SIGNAL_HEAD } from './protocol.ts'
import { threadLogger } from './thread-logger.ts'

/* Fills the index in a thread of its own, over its own connection to the node. */

const port = parentPort
assert(port !== null, 'the indexer is a worker')
const { nodeUrl, database, rules, labels, signals } = workerData as ExplorerThreadStart
const counters = new Int32Array(signals)
const logger = threadLogger(port)
const { pollMs } = EXPLORER_LIMITS.index

let isClosing = false
let indexer: Indexer | undefined
port.on('message', () => {
  isClosing = true
  indexer?.stop()
  Atomics.notify(counters, SIGNAL_HEAD)
})

const wait = (milliseconds: number): Promise<void> => new Promise(resolve => setTimeout(resolve, milliseconds))

/** Waits for a later head than the last one seen, at most for a fixed time. */
const waitForHead = async (seen: number): Promise<void> => {
  await Atomics.waitAsync(counters, SIGNAL_HEAD, seen, pollMs).value
}

const retries = new IndexerRetries({
  logger,
  nowMs: () => Date.now(),
  onHealth: health => port.postMessage({ type: 'health', health } satisfies FromExplorerThread),
})

/** Waits for a database that is away. */
const openStore = async (): Promise<SqlIndex | undefined> => {
  while (!isClosing) {
    try {
      const opened = await openIndex(database)
      try {
        await opened.writeLabels(labels)
        return opened
      } catch (error) {
        await opened.close()
        throw error
      }
    } catch (error) {
      if (!isCoded(error) || error.code !== 'DATABASE_UNREACHABLE') throw error
      await wait(retries.failed(error))
    }
  }
  return undefined
}

const run = async (): Promise<void> => {
  const index = await openStore()
  if (index === undefined) process.exit()
  port.postMessage({ type: 'opened' } satisfies FromExplorerThread)
  const node = new NodeClient({ url: nodeUrl, logger })
  const [source, call] = [new RpcChain(node, rules), nodeCall(node)]
  // The address of a node may lead elsewhere tomorrow, and the index may have taken days.
  const keepsForeign = !rules.isDevelopment
  indexer = new Indexer({ source, call, index, logger, nowMs: () => performance.now(), keepsForeign })

  while (!isClosing) {
    const seen = Atomics.load(counters, SIGNAL_HEAD)
    try {
      const state = await indexer.step()
      retries.passed(state === 'behind' ? 'filling' : 'at the head')
      if (state === 'at the head') await waitForHead(seen)
      // Yields between two batches, so that messages are handled.
      else await new Promise(resolve => setImmediate(resolve))
    } catch (error) {
      await wait(retries.failed(error))
    }
  }
  await index.close()
  await node.close()
  port.close()
}

void run()
