import type { IncomingMessage } from 'node:http'
import { LIMITS } from '../config/limits.ts'
import { BODIES_FULL, type BodyMeter } from './body-bytes.ts'

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

/** Reads a body as UTF-8. Throws HttpFailure: 413 beyond its own bound, 503 beyond that of all bodies, 400 when it breaks off. */
export const readBody = (request: IncomingMessage, meter: BodyMeter): Promise<Body> => {
  const declared = request.headers['content-length']
  if (Number(declared ?? 0) > LIMITS.rpc.bodyBytes) return Promise.reject(tooLarge(String(declared)))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const fail = (failure: HttpFailure): void => {
      request.off('data', take).off('end', finish).off('close', abort)
      meter.hold(0)
      reject(failure)
    }
    const take = (chunk: Buffer): void => {
      bytes += chunk.byteLength
      if (bytes > LIMITS.rpc.bodyBytes) fail(tooLarge(declared ?? 'unknown'))
      else if (meter.hold(bytes)) chunks.push(chunk)
      else fail(new HttpFailure(503, BODIES_FULL))
    }
    const finish = (): void => {
      request.off('close', abort)
      const text = chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString('utf8')
      resolve({ text, release: () => void meter.hold(0) })
    }
    const abort = (): void => fail(new HttpFailure(400, 'the request broke off'))
    request.on('data', take).once('end', finish).once('close', abort)
  })
}
