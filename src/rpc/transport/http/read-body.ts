import type { IncomingMessage } from 'node:http'
import { freeBytes } from '@tandem/base/bytes.ts'
import type { Meter } from '@tandem/base/client-budget.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { BODIES_FULL } from '../../router/budgets.ts'

/** Why a body is not read: a status and a line of text. */
interface BodyRefusal {
  readonly status: 400 | 413 | 503
  readonly text: string
}

/** Whole body; its meter is charged until the reader sets it to 0. */
type ReadResult = Buffer | BodyRefusal

const tooLarge = (size: string): BodyRefusal => ({
  status: 413,
  text: `content length too large (${size}>${RPC_LIMITS.bodyBytes})`,
})

const FIRST_BYTES = 4_096
/** Most pieces of a body: MAX_PIECES, plus one per MIN_PIECE_BYTES received. */
const MAX_PIECES = 1_024
const MIN_PIECE_BYTES = 256

/** Returns a function that counts a piece of a body, and returns true when there are too many for their bytes. */
const pieceCounter = (): ((chunk: Uint8Array) => boolean) => {
  let pieces = 0
  let bytes = 0
  return ({ byteLength }) => {
    bytes += byteLength
    return ++pieces > MAX_PIECES + bytes / MIN_PIECE_BYTES
  }
}

/** Ends the connection of a request whose body has too many pieces. It flows from the event loop's next step: hooks must not wait. */
export const limitPieces = (request: IncomingMessage): void => {
  // A piece of a body that is not chunked is what the system gives at once.
  if (request.headers['transfer-encoding'] === undefined) return
  const isTooMany = pieceCounter()
  request.on('data', (chunk: Buffer) => {
    if (isTooMany(chunk)) request.destroy()
  })
}

/**
 * Reads the rest of a refused request: closing while the client still sends would reset the connection and lose the response (RFC
 * 9112 9.6). Ends the connection when the rest comes in too many small pieces. Resolves with false when the rest did not come in time.
 */
export const readAway = (request: IncomingMessage): Promise<boolean> =>
  new Promise(resolve => {
    if (request.complete || request.destroyed) return resolve(true)
    const isTooMany = pieceCounter()
    const count = (chunk: Buffer): void => {
      if (isTooMany(chunk)) request.destroy()
    }
    const done = (): void => {
      clearTimeout(timer)
      request.off('data', count)
      resolve(request.complete)
    }
    const timer = setTimeout(done, RPC_LIMITS.lingerMs)
    request.once('end', done).once('close', done).on('data', count).resume()
  })

/** Returns a buffer with room for `needed` bytes of at most `most`, and the same beginning; the memory of the old one is freed. */
const grown = (buffer: Buffer, used: number, needed: number, most: number): Buffer<ArrayBuffer> => {
  const larger = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(Math.max(FIRST_BYTES, 2 * buffer.byteLength), most)))
  buffer.copy(larger, 0, 0, used)
  freeBytes(buffer)
  return larger
}

/** Reads a body, and charges the meter as it comes. Refuses one beyond the limits with 413 or 503, an incomplete one with 400. */
export const readBody = (request: IncomingMessage, meter: Meter, done: (result: ReadResult) => void): void => {
  const declared = request.headers['content-length']
  const most = Number(declared ?? RPC_LIMITS.bodyBytes)
  if (most > RPC_LIMITS.bodyBytes) {
    done(tooLarge(String(declared)))
    return
  }
  // One growing buffer: a list of chunks would keep an object for each, and chunks may be of one byte.
  let text: Buffer = EMPTY
  let bytes = 0
  const isTooMany = pieceCounter()
  const end = (result: ReadResult): void => {
    request.off('data', take).off('end', finish).off('close', abort)
    if (!Buffer.isBuffer(result)) meter.hold(0)
    done(result)
  }
  const take = (chunk: Buffer): void => {
    const to = bytes + chunk.byteLength
    // Chunks of single bytes cost far more work than their size: such a connection is closed at once.
    if (isTooMany(chunk)) {
      end({ status: 400, text: 'the body comes in too many pieces' })
      // Not only its socket: the parser hands over the rest of what was read, piece by piece.
      request.destroy()
    } else if (to > RPC_LIMITS.bodyBytes) end(tooLarge(declared ?? 'unknown'))
    else if (!meter.hold(to)) end({ status: 503, text: BODIES_FULL })
    else if (bytes === 0) {
      // Most bodies come whole.
      text = chunk
      bytes = to
    } else {
      if (to > text.byteLength) text = grown(text, bytes, to, most)
      chunk.copy(text, bytes)
      bytes = to
      // Megabytes in pieces would wait for the collector.
      freeBytes(chunk)
    }
  }
  const finish = (): void => end(text.byteLength === bytes ? text : text.subarray(0, bytes))
  const abort = (): void => end({ status: 400, text: 'the request broke off' })
  request.on('data', take).on('end', finish).on('close', abort)
}

const EMPTY = Buffer.alloc(0)
