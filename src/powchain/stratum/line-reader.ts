import type { Socket } from 'node:net'
import type { Clock } from '@tandem/base/clock.ts'
import { TokenBucket } from '@tandem/base/token-bucket.ts'
import { STRATUM_LIMITS } from '../../config/limits/stratum.ts'

interface LineReaderOptions {
  readonly socket: Socket
  readonly clock: Clock
  readonly onLine: (line: string) => void
  /** A line is longer than STRATUM_LIMITS.lineBytes. */
  readonly onTooLong: () => void
}

const NEWLINE = 0x0a

/** Reads the lines of a socket at a bounded rate: a sender of more is not read until the rate allows it. */
export class LineReader {
  readonly #options: LineReaderOptions
  readonly #rate: TokenBucket
  #buffer: Buffer = Buffer.alloc(0)
  #cancel: () => void = () => {}
  #isWaiting = false
  #isClosed = false

  constructor(options: LineReaderOptions) {
    this.#options = options
    this.#rate = new TokenBucket(STRATUM_LIMITS.lines, options.clock.nowMs())
    options.socket.on('data', (chunk: Buffer) => this.#receive(chunk))
  }

  close(): void {
    this.#isClosed = true
    this.#buffer = Buffer.alloc(0)
    this.#cancel()
  }

  #receive(chunk: Buffer): void {
    if (this.#isClosed) return
    this.#buffer = this.#buffer.byteLength === 0 ? chunk : Buffer.concat([this.#buffer, chunk])
    if (!this.#isWaiting) this.#drain()
  }

  #drain(): void {
    const { socket, clock, onLine, onTooLong } = this.#options
    let from = 0
    // A connection that is being closed is not read any more.
    while (!this.#isClosed && socket.writable) {
      const end = this.#buffer.indexOf(NEWLINE, from)
      const size = (end === -1 ? this.#buffer.byteLength : end) - from
      if (size > STRATUM_LIMITS.lineBytes) {
        this.close()
        onTooLong()
        return
      }
      if (end === -1) break
      if (!this.#rate.take(clock.nowMs())) {
        this.#pause()
        break
      }
      const line = this.#buffer.toString('utf8', from, end).trim()
      from = end + 1
      if (line !== '') onLine(line)
    }
    // Copied: the rest of a line would retain the chunk that it came in.
    this.#buffer = Buffer.from(this.#buffer.subarray(from))
  }

  #pause(): void {
    const { socket, clock } = this.#options
    socket.pause()
    this.#isWaiting = true
    this.#cancel = clock.schedule(clock.nowMs() + PAUSE_MS, () => {
      this.#isWaiting = false
      this.#drain()
      if (!this.#isWaiting && !this.#isClosed) socket.resume()
    })
  }
}

const PAUSE_MS = 100
