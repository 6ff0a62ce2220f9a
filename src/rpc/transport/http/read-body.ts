import type { IncomingMessage } from 'node:http'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { freeMemory } from '../../../util/bytes.ts'
import type { Meter } from '../../../util/client-budget.ts'
import { BODIES_FULL } from '../clients/budgets.ts'

/** Ends a request with a status and a line of text. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure'
  readonly statusCode: number

  constructor(statusCode: number, message: string) {
    super(message)
    this.statusCode = statusCode
  }
}

/** Request body with its share of the budget of all bodies. */
export interface RequestBody {
  readonly bytes: Buffer
  /** It is being answered: `release` gives its share back, where otherwise the end of the connection does. */
  take(): void
  release(): void
  /** Its request was answered; without effect for one that was taken. */
  releaseUntaken(): void
}

const tooLarge = (size: string): HttpFailure =>
  new HttpFailure(413, `content length too large (${size}>${RPC_LIMITS.bodyBytes})`)

const FIRST_BYTES = 4_096
/** Most pieces of a body: MAX_PIECES, plus one per MIN_PIECE_BYTES received. */
const MAX_PIECES = 1_024
const MIN_PIECE_BYTES = 256

/**
 * Reads the rest of a refused request: closing while the client still sends would reset the connection and lose the response (RFC
 * 9112 9.6). Ends the connection when the rest comes in too many small pieces.
 */
export const readAway = (request: IncomingMessage): Promise<void> =>
  new Promise(resolve => {
    if (request.complete || request.destroyed) return resolve()
    let pieces = 0
    let bytes = 0
    const count = (chunk: Buffer): void => {
      bytes += chunk.byteLength
      if (++pieces > MAX_PIECES + bytes / MIN_PIECE_BYTES) request.destroy()
    }
    const done = (): void => {
      clearTimeout(timer)
      request.off('data', count)
      resolve()
    }
    const timer = setTimeout(done, RPC_LIMITS.lingerMs)
    request.once('end', done).once('close', done).on('data', count).resume()
  })

/** Returns a buffer with room for `needed` bytes of at most `most`, and the same beginning; the memory of the old one is freed. */
const grown = (buffer: Buffer, used: number, needed: number, most: number): Buffer<ArrayBuffer> => {
  const larger = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(Math.max(FIRST_BYTES, 2 * buffer.byteLength), most)))
  buffer.copy(larger, 0, 0, used)
  freeMemory(buffer)
  return larger
}

/**
 * Reads a body. Throws HttpFailure: 413 beyond the limit of one body, 503 beyond that of all bodies, 400 when it is
 * incomplete.
 */
export const readBody = (request: IncomingMessage, meter: Meter): Promise<RequestBody> => {
  const declared = request.headers['content-length']
  if (Number(declared ?? 0) > RPC_LIMITS.bodyBytes) return Promise.reject(tooLarge(String(declared)))
  return new Promise((resolve, reject) => {
    // One growing buffer: a list of chunks would keep an object for each, and chunks may be of one byte.
    let text = Buffer.alloc(0)
    let bytes = 0
    let pieces = 0
    const fail = (failure: HttpFailure): void => {
      request.off('data', take).off('end', finish).off('close', abort)
      meter.hold(0)
      reject(failure)
    }
    const take = (chunk: Buffer): void => {
      const end = bytes + chunk.byteLength
      // Chunks of single bytes cost far more work than their size: such a connection is closed at once.
      if (++pieces > MAX_PIECES + end / MIN_PIECE_BYTES) {
        fail(new HttpFailure(400, 'the body comes in too many pieces'))
        // Not only its socket: the parser hands over the rest of what was read, piece by piece.
        request.destroy()
        return
      }
      if (end > RPC_LIMITS.bodyBytes) fail(tooLarge(declared ?? 'unknown'))
      else if (!meter.hold(end)) fail(new HttpFailure(503, BODIES_FULL))
      else {
        if (end > text.byteLength) text = grown(text, bytes, end, Number(declared ?? RPC_LIMITS.bodyBytes))
        chunk.copy(text, bytes)
        bytes = end
        // Megabytes in pieces would wait for the collector.
        freeMemory(chunk)
      }
    }
    const finish = (): void => {
      request.off('close', abort)
      let isTaken = false
      const release = (): void => void meter.hold(0)
      // A request whose client has left is not passed to a handler.
      request.socket.once('close', release)
      if (request.socket.destroyed) release()
      resolve({
        bytes: text.subarray(0, bytes),
        take() {
          isTaken = true
          request.socket.off('close', release)
        },
        release,
        releaseUntaken() {
          if (isTaken) return
          request.socket.off('close', release)
          release()
        },
      })
    }
    const abort = (): void => fail(new HttpFailure(400, 'the request broke off'))
    request.on('data', take).once('end', finish).once('close', abort)
  })
}
