import { CodedError } from '@tandem/base/errors.ts'
import type { Backpressure } from '../tracer.ts'
import type { TraceError } from './config.ts'

interface JsonSinkOptions {
  /** Receives a piece of the text, which the sink no longer uses. */
  readonly emit: (chunk: Buffer<ArrayBuffer>) => void
  readonly chunkChars: number
  readonly limitBytes: number
  /** Pieces that may be under way before `isFull`. */
  readonly credits: number
}

/** JSON output to a reader: collected into chunks, paused when the reader is slow, and closed properly when its producer fails midway. */
export class JsonSink implements Backpressure {
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

  /** The reader has taken one chunk. */
  credit(): void {
    this.#credits++
    if (!this.isFull) this.#resume()
  }

  /** The reader is gone: output is dropped, and nothing is awaited. */
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

  /** Opens an object or array to be ended by `closer`; nothing is written before its first content. */
  nest(opener: string, closer: string): void {
    this.#open.push({ pending: opener, closer })
  }

  /** Ends the innermost one, with `text` instead of its closer if given. */
  close(text?: string): void {
    const closer = text ?? this.#open.at(-1)?.closer ?? ''
    this.write(closer)
    this.#open.pop()
  }

  /** Ends after a failure: drops output that was not sent if that is all of it, else closes what has begun. */
  fail(): void {
    if (this.#bytes === 0) this.#text = ''
    else for (const { pending, closer } of this.#open.toReversed()) if (pending === undefined) this.#text += closer
    this.#open.length = 0
  }

  flush(): void {
    if (this.#text === '' || this.#isAbandoned) {
      this.#text = ''
      return
    }
    // Separate memory, so that it can be transferred to another thread.
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
