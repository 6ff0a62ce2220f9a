import { type ChunkStream, StreamBroken } from '../../util/async/chunk-stream.ts'
import type { TraceRequest } from './worker-protocol.ts'

/** Service of a stream. */
export interface StreamOwner {
  start(stream: TraceStream): void
  /** The reader has taken one piece. */
  credit(stream: TraceStream): void
  cancel(stream: TraceStream): void
}

/** Result of one request as its reader sees it. Starts at the first `next`. */
export class TraceStream implements ChunkStream<Uint8Array> {
  readonly request: TraceRequest
  readonly #owner: StreamOwner
  readonly #chunks: Uint8Array[] = []
  #state: 'new' | 'open' | 'ended' = 'new'
  #error: Error | undefined = undefined
  #hasChunks = false
  #waiting: { resolve(chunk: Uint8Array | undefined): void; reject(error: Error): void } | undefined = undefined

  constructor(request: TraceRequest, owner: StreamOwner) {
    this.request = request
    this.#owner = owner
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  next(): Promise<Uint8Array | undefined> {
    if (this.#state === 'new') {
      this.#state = 'open'
      this.#owner.start(this)
    }
    const chunk = this.#chunks.shift()
    if (chunk !== undefined) {
      if (this.#state === 'open') this.#owner.credit(this)
      return Promise.resolve(chunk)
    }
    if (this.#state === 'ended') return this.#error === undefined ? Promise.resolve(undefined) : this.#fail()
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  cancel(): void {
    const wasOpen = this.#state === 'open'
    this.#error = undefined
    this.#chunks.length = 0
    this.end()
    if (wasOpen) this.#owner.cancel(this)
  }

  // Called by the service.

  push(chunk: Uint8Array): void {
    if (this.#state !== 'open') return
    this.#hasChunks = true
    const waiting = this.#waiting
    if (waiting === undefined) {
      this.#chunks.push(chunk)
      return
    }
    this.#waiting = undefined
    this.#owner.credit(this)
    waiting.resolve(chunk)
  }

  /** The producer is gone. */
  cut(error: Error): void {
    this.end(this.#hasChunks ? new StreamBroken(error.message, { cause: error }) : error)
  }

  /** Ends the stream; with an error the reader gets it after the last piece. */
  end(error?: Error): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    this.#error = error
    const waiting = this.#waiting
    this.#waiting = undefined
    if (error === undefined) waiting?.resolve(undefined)
    else waiting?.reject(error)
  }

  #fail(): Promise<never> {
    const error = this.#error as Error
    this.#error = undefined
    return Promise.reject(error)
  }
}
