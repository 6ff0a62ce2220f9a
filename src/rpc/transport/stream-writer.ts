import type { Writable } from 'node:stream'
import { StallTimer } from '@tandem/base/async/stall-timer.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { freeBytes } from '@tandem/base/bytes.ts'
import type { Meter } from '@tandem/base/client-budget.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import type { ResponseChunk, ResponseStream } from '../router/response.ts'

const READER: ConstructorParameters<typeof StallTimer>[0] = {
  stallMs: RPC_LIMITS.streamStallMs,
  bytesPerMs: RPC_LIMITS.streamBytesPerMs,
}

/** Time limit of a slow reader: per wait, and in total by its bytes over a slow line. Beyond it, it holds others' memory. */
export class WriteTimeout {
  readonly #stall: StallTimer
  #onStall = (): void => {}

  constructor(limits = READER, isPatient?: () => boolean) {
    this.#stall = new StallTimer(limits, () => this.#onStall(), isPatient)
  }

  sent(bytes: number): void {
    this.#stall.count(bytes)
  }

  /** Returns false when the wait took longer than the limit. */
  async wait(until: (done: () => void) => () => void): Promise<boolean> {
    let forget = (): void => {}
    const came = await new Promise<boolean>(resolve => {
      this.#onStall = () => resolve(false)
      this.#stall.wait()
      forget = until(() => resolve(true))
    })
    this.#stall.stop()
    forget()
    return came
  }
}

/** Calls `done` when a stream accepts more or is closed. */
export const drained =
  (out: Writable) =>
  (done: () => void): (() => void) => {
    out.once('drain', done).once('close', done)
    return () => void out.off('drain', done).off('close', done)
  }

/** The bytes of a chunk: the system would be given three for each character of a text. */
export const bytesOf = (responseChunk: ResponseChunk): Uint8Array =>
  typeof responseChunk === 'string' ? Buffer.from(responseChunk) : responseChunk

interface PumpOptions {
  readonly write?: (responseChunk: ResponseChunk) => boolean
  readonly writeTimeout?: WriteTimeout
  /** Owner of the work. */
  readonly client?: string
  /** Receives the bytes the response still holds and the unread ones; the connection ends when there is no room for them. */
  readonly meter?: Meter
}

/** Writes a response as fast as its reader takes it; returns false, with `out` destroyed, when it did not reach the end. */
export const writeStream = async (
  stream: ResponseStream,
  out: Writable,
  options: PumpOptions = {},
): Promise<boolean> => {
  const {
    write = responseChunk => {
      const bytes = bytesOf(responseChunk)
      return out.write(bytes, () => freeBytes(bytes))
    },
    writeTimeout = new WriteTimeout(),
    client,
    meter,
  } = options
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
      await sliceOver(client)
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
