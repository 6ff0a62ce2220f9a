import { asBuffer } from '@tandem/base/bytes.ts'
import { collectExternalGarbage } from '@tandem/base/worker/garbage.ts'
import { type ServedCall, serveWorker, workerStartData } from '@tandem/base/worker/serve-worker.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import { Store } from '../../storage/store.ts'
import { BlockStore } from '../store/block-store.ts'
import type { LogEntry, LogQuery } from '../store/types.ts'
import { runLogJob } from './log-jobs.ts'
import { type LogQueryLimits, matchingLogs, queryLogs } from './log-query.ts'
import type { LogMethods, LogWorkerData } from './log-service.ts'

/** ASCII text, sent in pieces whose memory moves to the other thread. */
class TextPieces {
  readonly #send: (piece: Uint8Array) => void
  #parts: string[] = []
  #length = 0

  constructor(send: (piece: Uint8Array) => void) {
    this.#send = send
  }

  add(text: string): void {
    this.#parts.push(text)
    this.#length += text.length
    if (this.#length >= RPC_LIMITS.chunkChars) this.end()
  }

  end(): void {
    if (this.#length === 0) return
    const bytes = new Uint8Array(this.#length)
    asBuffer(bytes).write(this.#parts.join(''), 'latin1')
    this.#send(bytes)
    this.#parts = []
    this.#length = 0
  }
}

/** A cancelled query counts as timed out. */
const limitsOf = (call: ServedCall): LogQueryLimits => ({
  results: RPC_LIMITS.logResults,
  timeoutMs: RPC_LIMITS.logQueryMs,
  nowMs: () => (call.isCancelled ? Number.POSITIVE_INFINITY : performance.now()),
})

/**
 * Worker side of LogService, started once by a worker's script: opens the store itself and serves queries, as entries or as a JSON
 * list of the results of `render`, in pieces transferred between threads without a copy. For text, neither entries nor pieces are kept.
 */
export const serveLogQueries = async (render: (entry: LogEntry) => string): Promise<void> => {
  const { store: handle, cacheBytes } = workerStartData<LogWorkerData>()
  const store = await Store.attach(handle)
  const blocks = new BlockStore(store, { cacheBytes, rowBytes: cacheBytes })

  let isStopped = false

  const sendText = async (query: LogQuery, call: ServedCall): Promise<void> => {
    const text = new TextPieces(piece => call.sendChunk(piece))
    let before = '['
    for await (const logs of matchingLogs(store, blocks, query, limitsOf(call))) {
      for (const log of logs) {
        text.add(before + render(log))
        before = ','
      }
    }
    text.add(before === '[' ? '[]' : ']')
    text.end()
    setImmediate(collectExternalGarbage)
  }

  serveWorker<LogMethods>(
    {
      entries: (query, call) => queryLogs(store, blocks, query, limitsOf(call)),
      text: sendText,
      forget: () => blocks.forget(),
      index: job => runLogJob(store, job, () => isStopped),
      stop: () => {
        isStopped = true
      },
    },
    { order: 'parallel' },
  )
}
