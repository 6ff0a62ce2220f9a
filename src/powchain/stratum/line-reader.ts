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

/**
 * Reads the lines of a socket at a bounded rate: a sender of more is not read until the rate allows it. Returns the function that ends it.
 */
export const readLines = ({ socket, clock, onLine, onTooLong }: LineReaderOptions): (() => void) => {
  const rate = new TokenBucket(STRATUM_LIMITS.lines, clock.nowMs())
  let buffer: Buffer = Buffer.alloc(0)
  let cancel: () => void = () => {}
  let isWaiting = false
  let isClosed = false

  const drain = (): void => {
    let from = 0
    // A connection that is being closed is not read any more.
    while (!isClosed && socket.writable) {
      const end = buffer.indexOf(NEWLINE, from)
      const size = (end === -1 ? buffer.byteLength : end) - from
      if (size > STRATUM_LIMITS.lineBytes) {
        close()
        onTooLong()
        return
      }
      if (end === -1) break
      if (!rate.take(clock.nowMs())) {
        pause()
        break
      }
      const line = buffer.toString('utf8', from, end).trim()
      from = end + 1
      if (line !== '') onLine(line)
    }
    // Copied: the rest of a line would retain the chunk that it came in.
    buffer = Buffer.from(buffer.subarray(from))
  }

  const pause = (): void => {
    socket.pause()
    isWaiting = true
    cancel = clock.schedule(clock.nowMs() + PAUSE_MS, () => {
      isWaiting = false
      drain()
      if (!isWaiting && !isClosed) socket.resume()
    })
  }

  const close = (): void => {
    isClosed = true
    buffer = Buffer.alloc(0)
    cancel()
  }

  socket.on('data', (chunk: Buffer) => {
    if (isClosed) return
    buffer = buffer.byteLength === 0 ? chunk : Buffer.concat([buffer, chunk])
    if (!isWaiting) drain()
  })
  return close
}

const PAUSE_MS = 100
