import type { Writable } from 'node:stream'
import { LIMITS } from '../config/limits.ts'
import type { AnswerStream, Chunk } from './answer.ts'

/**
 * How long a reader may keep an answer waiting: not long at once, and not longer in all than a slow line would need for what it has
 * taken. Whoever exceeds it holds the memory and the turn of others.
 */
export class Patience {
  #waitedMs = 0
  #bytes = 0

  sent(bytes: number): void {
    this.#bytes += bytes
  }

  /** What is left of it; 0 or less: it is over. */
  get leftMs(): number {
    const { streamStallMs, streamBytesPerMs } = LIMITS.rpc
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

const drained =
  (out: Writable) =>
  (done: () => void): (() => void) => {
    out.once('drain', done).once('close', done)
    return () => void out.off('drain', done).off('close', done)
  }

/** Writes an answer as fast as its reader takes it; false: it did not get to its end, and `out` is destroyed. */
export const pump = async (
  stream: AnswerStream,
  out: Writable,
  write: (chunk: Chunk) => boolean = chunk => out.write(chunk),
): Promise<boolean> => {
  const patience = new Patience()
  const cancel = (): void => stream.cancel()
  out.once('close', cancel)
  try {
    for (let chunk = await stream.next(); chunk !== undefined; chunk = await stream.next()) {
      if (out.destroyed) return false
      patience.sent(chunk.length)
      if (write(chunk) || (await patience.wait(drained(out)))) continue
      out.destroy()
      return false
    }
    return !out.destroyed
  } finally {
    out.off('close', cancel)
    stream.cancel()
  }
}
