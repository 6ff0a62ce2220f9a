import { collectExternalGarbage } from '@tandem/base/worker/garbage.ts'
import { type ServedCall, serveWorker, workerStartData } from '@tandem/base/worker/serve-worker.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import type { EncodedLog } from '../../primitives/receipt/log.ts'
import { Store } from '../../storage/store.ts'
import { BlockStore } from '../store/block-store.ts'
import type { EncodedLogs } from '../store/stored-block.ts'
import type { LogQuery } from '../store/types.ts'
import type { LogCandidate } from './log-candidates.ts'
import { runLogJob } from './log-jobs.ts'
import { type LogQueryLimits, matchingLogs, queryLogs } from './log-query.ts'
import type { LogMethods, LogWorkerData } from './log-service.ts'

/** Writes ASCII text without strings of it, sent in pieces whose memory moves to the other thread. */
class TextPieces {
  readonly #send: (piece: Uint8Array) => void
  #bytes = new Uint8Array(FIRST_BYTES)
  #at = 0

  constructor(send: (piece: Uint8Array) => void) {
    this.#send = send
  }

  /** Adds text that is shorter than a piece. */
  add(text: Uint8Array): void {
    if (this.#at + text.byteLength > this.#bytes.byteLength) this.#next()
    this.#bytes.set(text, this.#at)
    this.#at += text.byteLength
  }

  /** Adds a number below 2^32 in hexadecimal digits. */
  addNumber(value: number): void {
    if (this.#at + 8 > this.#bytes.byteLength) this.#next()
    for (let shift = 28 - (Math.clz32(value | 1) & ~3); shift >= 0; shift -= 4)
      this.#bytes[this.#at++] = DIGITS[(value >>> shift) & 15] as number
  }

  /** Adds the hexadecimal digits of some bytes. */
  addHex(bytes: Uint8Array, from: number, to: number): void {
    for (let i = from; i < to; ) {
      if (this.#at + 2 > this.#bytes.byteLength) this.#next()
      const text = this.#bytes
      let at = this.#at
      for (const end = Math.min(to, i + ((text.byteLength - at) >>> 1)); i < end; i++) {
        const byte = bytes[i] as number
        text[at] = DIGITS[byte >>> 4] as number
        text[at + 1] = DIGITS[byte & 15] as number
        at += 2
      }
      this.#at = at
    }
  }

  /** Sends what there is. */
  end(): void {
    this.#send(this.#bytes.slice(0, this.#at))
  }

  /** Begins the next piece, a larger one. */
  #next(): void {
    this.end()
    this.#at = 0
    if (this.#bytes.byteLength < LAST_BYTES) this.#bytes = new Uint8Array(4 * this.#bytes.byteLength)
  }
}

const FIRST_BYTES = 16 * 1024
const LAST_BYTES = 256 * 1024

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)
const DIGITS = ascii('0123456789abcdef')
const [BEGIN, NEXT, END] = ['[', ',', ']'].map(ascii) as [Uint8Array, Uint8Array, Uint8Array]

/** Returns a function that writes single logs of a block. */
export type LogWriter = (text: TextPieces, found: EncodedLogs) => (log: EncodedLog) => void

/** A cancelled query counts as timed out. */
const limitsOf = (call: ServedCall): LogQueryLimits => ({
  results: RPC_LIMITS.logResults,
  timeoutMs: RPC_LIMITS.logQueryMs,
  nowMs: () => (call.isCancelled ? Number.POSITIVE_INFINITY : performance.now()),
})

/**
 * Worker side of LogService, started once by a worker's script: opens the store itself and serves queries, as entries or as a JSON
 * list of what `writerOf` writes, in pieces transferred between threads without a copy. For text, neither logs nor pieces are kept.
 */
export const serveLogQueries = async (writerOf: LogWriter): Promise<void> => {
  const { store: handle, cacheBytes } = workerStartData<LogWorkerData>()
  const store = await Store.attach(handle)
  const blocks = new BlockStore(store, { cacheBytes, rowBytes: cacheBytes })

  let isStopped = false

  const sendText = async (query: LogQuery, call: ServedCall): Promise<void> => {
    const text = new TextPieces(piece => call.sendChunk(piece))
    let isFirst = true
    const find = ({ number, wanted }: LogCandidate, limit: number) => blocks.logs(number, query, limit, wanted)
    for await (const found of matchingLogs(store, query, limitsOf(call), find)) {
      const write = writerOf(text, found)
      for (const log of found.logs) {
        text.add(isFirst ? BEGIN : NEXT)
        isFirst = false
        write(log)
      }
    }
    if (isFirst) text.add(BEGIN)
    text.add(END)
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
