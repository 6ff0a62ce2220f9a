import { type ChunkStream, StreamBroken } from '../async/chunk-stream.ts'

/** Producer of a stream. */
interface StreamSource {
  start(): void
  /** The reader has taken one chunk. */
  credit(): void
  cancel(): void
}

/** Chunks of a worker's call as their reader sees them. Starts at the first `next`. */
export class WorkerStream<T> implements ChunkStream<T> {
  readonly #source: StreamSource
  readonly #chunks: T[] = []
  #state: 'new' | 'open' | 'ended' = 'new'
  #error: Error | undefined = undefined
  #hasChunks = false
  #waiting: { resolve(chunk: T | undefined): void; reject(error: Error): void } | undefined = undefined

  constructor(source: StreamSource) {
    this.#source = source
  }

  next(): Promise<T | undefined> {
    if (this.#state === 'new') {
      this.#state = 'open'
      this.#source.start()
    }
    const chunk = this.#chunks.shift()
    if (chunk !== undefined) {
      if (this.#state === 'open') this.#source.credit()
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
    if (wasOpen) this.#source.cancel()
  }

  // Called by the source.

  push(chunk: T): void {
    if (this.#state !== 'open') return
    this.#hasChunks = true
    const waiting = this.#waiting
    if (waiting === undefined) {
      this.#chunks.push(chunk)
      return
    }
    this.#waiting = undefined
    this.#source.credit()
    waiting.resolve(chunk)
  }

  /** The worker is gone. */
  cut(error: Error): void {
    this.end(this.#hasChunks ? new StreamBroken(error.message, { cause: error }) : error)
  }

  /** Ends the stream; with an error the reader gets it after the last chunk. */
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
