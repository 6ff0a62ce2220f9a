import type { IncomingMessage } from 'node:http'
import { LIMITS } from '../config/limits.ts'
import { BODIES_FULL } from './budgets.ts'
import type { Meter } from './client-budget.ts'

/** Ends a request with a status and a line of text. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure'
  readonly statusCode: number

  constructor(statusCode: number, message: string) {
    super(message)
    this.statusCode = statusCode
  }
}

/** A body and its share of what all bodies may hold: give it back when it was answered. */
export interface Body {
  readonly text: string
  release(): void
}

const tooLarge = (size: string): HttpFailure =>
  new HttpFailure(413, `content length too large (${size}>${LIMITS.rpc.bodyBytes})`)

const FIRST_BYTES = 4_096

/** A buffer with room for `needed` bytes and the same beginning. */
const grown = (buffer: Buffer, used: number, needed: number): Buffer<ArrayBuffer> => {
  const larger = Buffer.allocUnsafeSlow(
    Math.max(needed, FIRST_BYTES, Math.min(2 * buffer.byteLength, LIMITS.rpc.bodyBytes)),
  )
  buffer.copy(larger, 0, 0, used)
  return larger
}

/** Reads a body as UTF-8. Throws HttpFailure: 413 beyond its own bound, 503 beyond that of all bodies, 400 when it breaks off. */
export const readBody = (request: IncomingMessage, meter: Meter): Promise<Body> => {
  const declared = request.headers['content-length']
  if (Number(declared ?? 0) > LIMITS.rpc.bodyBytes) return Promise.reject(tooLarge(String(declared)))
  return new Promise((resolve, reject) => {
    // One buffer that grows: a list of chunks would keep an object for each, and they may be of one byte.
    let text = Buffer.alloc(0)
    let bytes = 0
    const fail = (failure: HttpFailure): void => {
      request.off('data', take).off('end', finish).off('close', abort)
      meter.hold(0)
      reject(failure)
    }
    const take = (chunk: Buffer): void => {
      const end = bytes + chunk.byteLength
      if (end > LIMITS.rpc.bodyBytes) fail(tooLarge(declared ?? 'unknown'))
      else if (!meter.hold(end)) fail(new HttpFailure(503, BODIES_FULL))
      else {
        if (end > text.byteLength) text = grown(text, bytes, end)
        chunk.copy(text, bytes)
        bytes = end
      }
    }
    const finish = (): void => {
      request.off('close', abort)
      resolve({ text: text.toString('utf8', 0, bytes), release: () => void meter.hold(0) })
    }
    const abort = (): void => fail(new HttpFailure(400, 'the request broke off'))
    request.on('data', take).once('end', finish).once('close', abort)
  })
}
