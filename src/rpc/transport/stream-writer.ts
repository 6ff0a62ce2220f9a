import type { Writable } from 'node:stream'
import { LIMITS } from '../../config/limits.ts'
import type { ResponseChunk, ResponseStream } from '../router/response.ts'
import type { Meter } from './client-budget.ts'

export interface WriteTimeoutLimits {
  readonly streamStallMs: number
  readonly streamBytesPerMs: number
}

/**
 * How long a reader may keep an answer waiting: not long at once, and not longer in all than a slow line would need for what it has
 * taken. Whoever exceeds it holds the memory and the turn of others.
 */
export class WriteTimeout {
  readonly #limits: WriteTimeoutLimits
  #waitedMs = 0
  #bytes = 0

  constructor(limits: WriteTimeoutLimits = LIMITS.rpc) {
    this.#limits = limits
  }

  sent(bytes: number): void {
    this.#bytes += bytes
  }

  /** What is left of it; 0 or less: it is over. */
  get leftMs(): number {
    const { streamStallMs, streamBytesPerMs } = this.#limits
    return Math.min(streamStallMs, streamStallMs + this.#bytes / streamBytesPerMs - this.#waitedMs)
  }

  /** false: the wait took longer than there is patience. */
  async wait(until: (done: () => void) => () => void): Promise<boolean> {
    const startedMs = performance.now()
    let timer: NodeJS.Timeout | undefined
    let forget = (): void => {}
    const came = await new Promise<boolean>(resolve => {
      timer = setTimeout(resolve, Math.max(0, this.leftMs), false)
      forget = until(() => resolve(true))
    })
    clearTimeout(timer)
    forget()
    this.#waitedMs += performance.now() - startedMs
    return came
  }
}

/** Tells when a stream takes more, or is closed. */
export const drained =
  (out: Writable) =>
  (done: () => void): (() => void) => {
    out.once('drain', done).once('close', done)
    return () => void out.off('drain', done).off('close', done)
  }

export interface PumpOptions {
  readonly write?: (responseChunk: ResponseChunk) => boolean
  readonly writeTimeout?: WriteTimeout
  /** Told what the answer still holds and what was written and not taken; without room for it the connection ends. */
  readonly meter?: Meter
}

/** Writes an answer as fast as its reader takes it; false: it did not get to its end, and `out` is destroyed. */
export const writeStream = async (
  stream: ResponseStream,
  out: Writable,
  options: PumpOptions = {},
): Promise<boolean> => {
  const { write = responseChunk => out.write(responseChunk), writeTimeout = new WriteTimeout(), meter } = options
  const cancel = (): void => stream.cancel()
  const hasRoom = (): boolean => meter === undefined || meter.hold((stream.heldBytes ?? 0) + out.writableLength)
  const giveUp = (): false => {
    out.destroy()
    return false
  }
  out.once('close', cancel)
  try {
    if (!hasRoom()) return giveUp()
    for (let responseChunk = await stream.next(); responseChunk !== undefined; responseChunk = await stream.next()) {
      if (out.destroyed) return false
      writeTimeout.sent(responseChunk.length)
      const goesOn = write(responseChunk)
      if (!hasRoom()) return giveUp()
      if (!goesOn && !(await writeTimeout.wait(drained(out)))) return giveUp()
    }
    return !out.destroyed
  } finally {
    meter?.hold(0)
    out.off('close', cancel)
    stream.cancel()
  }
}
