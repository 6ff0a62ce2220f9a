import { CodedError } from '../../util/errors.ts'
import type { TraceError } from './config.ts'
import type { Backpressure } from './tracer.ts'
import type { TraceOutput } from './tracer-context.ts'

export interface JsonSinkOptions {
  /** Takes a piece of the text; no longer the sink's. */
  readonly emit: (chunk: Buffer<ArrayBuffer>) => void
  readonly chunkChars: number
  readonly limitBytes: number
  /** Pieces that may be on their way before `isFull`. */
  readonly credits: number
}

/**
 * JSON on its way to a reader: gathered into chunks, held back when the reader does not follow, and closed properly when its maker
 * fails half way.
 */
export class JsonSink implements TraceOutput, Backpressure {
  readonly #options: JsonSinkOptions
  readonly #open: { pending: string | undefined; readonly closer: string }[] = []
  #text = ''
  #bytes = 0
  #credits: number
  #waiting: (() => void) | undefined = undefined
  #isAbandoned = false

  constructor(options: JsonSinkOptions) {
    this.#options = options
    this.#credits = options.credits
  }

  get isFull(): boolean {
    return this.#credits <= 0
  }

  /** Whether anything was given out or waits to be. */
  get hasStarted(): boolean {
    return this.#bytes > 0 || this.#text !== ''
  }

  /** The reader has taken one chunk. */
  credit(): void {
    this.#credits++
    if (!this.isFull) this.#resume()
  }

  /** Nobody reads any more: what is written is dropped, and nothing is waited for. */
  abandon(): void {
    this.#isAbandoned = true
    this.#credits = Number.POSITIVE_INFINITY
    this.#resume()
  }

  drained(): Promise<void> {
    if (!this.isFull) return Promise.resolve()
    return new Promise(resolve => {
      this.#waiting = resolve
    })
  }

  /** Throws TRACE_TOO_LARGE. */
  write(text: string): void {
    const { limitBytes, chunkChars } = this.#options
    if (this.#bytes > limitBytes) throw new CodedError<TraceError>({ code: 'TRACE_TOO_LARGE', limitBytes })
    for (const level of this.#open) {
      if (level.pending === undefined) continue
      this.#text += level.pending
      level.pending = undefined
    }
    this.#text += text
    if (this.#text.length >= chunkChars) this.flush()
  }

  nest(opener: string, closer: string): void {
    this.#open.push({ pending: opener, closer })
  }

  close(text?: string): void {
    const closer = text ?? this.#open.at(-1)?.closer ?? ''
    this.write(closer)
    this.#open.pop()
  }

  /** Nothing more comes: takes back what has not been given out when that is all of it, else ends what has begun. */
  fail(): void {
    if (this.#bytes === 0) this.#text = ''
    else this.#closeAll()
    this.#open.length = 0
  }

  /** What has only been announced is left out. */
  #closeAll(): void {
    for (const { pending, closer } of this.#open.toReversed()) if (pending === undefined) this.#text += closer
  }

  flush(): void {
    if (this.#text === '' || this.#isAbandoned) {
      this.#text = ''
      return
    }
    // Memory of its own, so that it can go to another thread.
    const chunk = Buffer.allocUnsafeSlow(Buffer.byteLength(this.#text))
    chunk.write(this.#text)
    this.#text = ''
    this.#bytes += chunk.byteLength
    this.#credits--
    this.#options.emit(chunk)
  }

  #resume(): void {
    const resume = this.#waiting
    this.#waiting = undefined
    resume?.()
  }
}
