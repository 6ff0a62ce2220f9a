import type { Writable } from 'node:stream'
import { LIMITS } from '../config/limits.ts'
import type { AnswerStream, Chunk } from './answer.ts'

export interface PatienceLimits {
  readonly streamStallMs: number
  readonly streamBytesPerMs: number
}

/**
 * How long a reader may keep an answer waiting: not long at once, and not longer in all than a slow line would need for what it has
 * taken. Whoever exceeds it holds the memory and the turn of others.
 */
export class Patience {
  readonly #limits: PatienceLimits
  #waitedMs = 0
  #bytes = 0

  constructor(limits: PatienceLimits = LIMITS.rpc) {
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
  patience: Patience = new Patience(),
): Promise<boolean> => {
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
