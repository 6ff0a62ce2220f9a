import { parentPort, workerData } from 'node:worker_threads'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import { Store } from '../../storage/store.ts'
import { assert } from '../../util/assert.ts'
import { asBuffer } from '../../util/bytes.ts'
import { isCoded } from '../../util/errors.ts'
import { BlockStore } from '../store/block-store.ts'
import type { LogEntry, LogQuery } from '../types.ts'
import { type LogQueryLimits, matchingLogs, queryLogs } from './log-query.ts'
import type { LogAnswer, LogJob, LogWork } from './log-service.ts'

/** ASCII text in pieces whose memory can be transferred to another thread. */
class TextPieces {
  readonly pieces: Uint8Array<ArrayBuffer>[] = []
  #parts: string[] = []
  #length = 0

  add(text: string): void {
    this.#parts.push(text)
    this.#length += text.length
    if (this.#length >= RPC_LIMITS.chunkChars) this.end()
  }

  end(): void {
    if (this.#length === 0) return
    const bytes = new Uint8Array(this.#length)
    asBuffer(bytes).write(this.#parts.join(''), 'latin1')
    this.pieces.push(bytes)
    this.#parts = []
    this.#length = 0
  }
}

/**
 * Worker side of LogService, started once by a worker's script: opens the store itself and answers queries, as entries or as a JSON
 * list of the results of `render`, in pieces transferred between threads without a copy. For text, no entry is kept in memory.
 */
export const serveLogQueries = async (render: (entry: LogEntry) => string): Promise<void> => {
  assert(parentPort, 'log queries are served in a thread')
  const port = parentPort
  const { storePath } = workerData as { storePath: string }
  const store = await Store.open(storePath, { createIfMissing: false })
  const blocks = new BlockStore(store)
  const running = new Set<number>()
  const cancelled = new Set<number>()
  /** A cancelled query counts as timed out. */
  const limitsOf = (id: number) => ({
    results: RPC_LIMITS.logResults,
    timeoutMs: RPC_LIMITS.logQueryMs,
    nowMs: () => (cancelled.has(id) ? Number.POSITIVE_INFINITY : performance.now()),
  })

  const textOf = async (query: LogQuery, limits: LogQueryLimits): Promise<readonly Uint8Array<ArrayBuffer>[]> => {
    const text = new TextPieces()
    let before = '['
    for await (const logs of matchingLogs(store, blocks, query, limits)) {
      for (const log of logs) {
        text.add(before + render(log))
        before = ','
      }
    }
    text.add(before === '[' ? '[]' : ']')
    text.end()
    return text.pieces
  }

  const run = async ({ id, query, as }: LogJob): Promise<void> => {
    running.add(id)
    try {
      const limits = limitsOf(id)
      if (as === 'entries') {
        port.postMessage({ id, value: await queryLogs(store, blocks, query, limits) } satisfies LogAnswer)
        return
      }
      const value = await textOf(query, limits)
      port.postMessage(
        { id, value } satisfies LogAnswer,
        value.map(({ buffer }) => buffer),
      )
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error)
      port.postMessage((isCoded(error) ? { id, error: error.detail } : { id, fault: failure }) satisfies LogAnswer)
    } finally {
      running.delete(id)
      cancelled.delete(id)
    }
  }
  port.on('message', (job: LogWork) => {
    if (job === 'forget') blocks.forget()
    else if ('cancel' in job) {
      if (running.has(job.cancel)) cancelled.add(job.cancel)
    } else void run(job)
  })
}
