import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { sliceOver } from '../../../util/async/time-slice.ts'
import type { Meter } from '../../../util/client-budget.ts'
import { setReadableLimit } from '../../../util/readable-limit.ts'
import { clientIdOf } from '../clients/client-id.ts'
import { noRoomText } from './lane-answers.ts'

/** Received bytes that the HTTP server parses at once, of bodies and where requests may begin: it begins all of a piece at once. */
const PIECE_BYTES = 8 * 1024
const HEAD_BYTES = 1024
/** Requests of a connection without a whole answer, from which on no more are parsed; and the memory of each. */
const MAX_UNANSWERED = 16
const REQUEST_BYTES = 4 * 1024

const paced = new WeakMap<Duplex, PacedReads>()

/**
 * Paces what the HTTP server reads from a connection that it has just got: small pieces, in turns of the client. Requests can be sent
 * without waiting for answers, about a thousand in the 64 KiB of one read, on every connection of a client. `meter` is charged with the
 * bytes that wait and the requests that are not answered; a connection for which there is no room is closed. A trusted proxy's has none.
 */
export const paceReads = (socket: Socket, meter: Meter | undefined, received?: Buffer): void => {
  // A listener of its own makes the parser take its bytes from the stream, not from the handle.
  const listener = (): void => {}
  socket.on('data', listener)
  socket.off('data', listener)
  const reads = new PacedReads(socket, meter)
  paced.set(socket, reads)
  if (received !== undefined) reads.take(received)
}

/** Counts the requests of paced connections, and frees those that change to another protocol, which has turns of its own. */
export const watchPaced = (server: Server): void => {
  server.prependListener('request', (request, response) => paced.get(request.socket)?.began(response))
  server.prependListener('upgrade', (_request, socket) => paced.get(socket)?.end())
}

/** Received bytes of one connection between its handle and its readers. */
class PacedReads {
  readonly #socket: Socket
  readonly #client: string
  readonly #meter: Meter | undefined
  readonly #push: Socket['push']
  readonly #read: Socket['_read']
  readonly #highWaterMark: number
  /** Bytes that wait for a turn; while there are any, the handle is not read. */
  #rest: Buffer | undefined
  #isWaiting = false
  #unanswered = 0
  /** The last piece began a request, or none was passed yet: the next one may begin more. */
  #isHead = true
  /** The client has sent all after what waits. */
  #isLast = false
  /** Nothing is paced any more. */
  #isFree = false
  /** The client had no room: what comes is dropped. */
  #isRefused = false

  constructor(socket: Socket, meter: Meter | undefined) {
    this.#socket = socket
    this.#meter = meter
    this.#highWaterMark = socket.readableHighWaterMark
    this.#client = clientIdOf(socket.remoteAddress)
    this.#push = socket.push.bind(socket)
    this.#read = socket._read.bind(socket)
    socket.push = (chunk: Buffer | null) => this.take(chunk)
    socket._read = size => {
      if (this.#rest === undefined) this.#read(size)
      else this.#pass()
    }
    // Or a paused stream would take all into its own buffer, and give all at once later.
    setReadableLimit(socket, HEAD_BYTES)
    if (meter !== undefined) socket.once('close', () => meter.hold(0))
  }

  /** Passes on what waits, and paces nothing any more. */
  end(): void {
    this.#isFree = true
    setReadableLimit(this.#socket, this.#highWaterMark)
    this.#isWaiting = false
    this.#pass()
  }

  /** A request was parsed. */
  began(response: ServerResponse): void {
    this.#isHead = true
    this.#unanswered++
    // After the parser: it must not lose its connection in the middle of a piece.
    queueMicrotask(() => this.#count())
    response.once('close', () => {
      this.#unanswered--
      if (this.#count()) this.#pass()
    })
  }

  /** Takes what the connection has received; null is its end. */
  take(chunk: Buffer | null): boolean {
    if (this.#isRefused && chunk !== null) return true
    if (this.#rest === undefined && (chunk === null || this.#isFree)) return this.#push(chunk)
    if (chunk === null) {
      this.#isLast = true
      return false
    }
    this.#rest = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk])
    return this.#count() && this.#pass()
  }

  /** Pushes what waits as far as it is the client's turn and readers want it; returns true when all is pushed and more is wanted. */
  #pass(): boolean {
    while (this.#rest !== undefined && !this.#isWaiting && !this.#socket.destroyed) {
      if (this.#unanswered >= MAX_UNANSWERED && !this.#isFree) return false
      const turn = this.#isFree ? undefined : sliceOver(this.#client)
      if (turn !== undefined) {
        this.#waitFor(turn)
        return false
      }
      const mayBegin = this.#isHead || this.#socket.readableLength > 0
      const length = this.#isFree ? this.#rest.byteLength : mayBegin ? HEAD_BYTES : PIECE_BYTES
      this.#isHead = false
      const piece = this.#rest.subarray(0, length)
      this.#rest = this.#rest.byteLength > length ? this.#rest.subarray(length) : undefined
      const goesOn = this.#push(piece)
      this.#count()
      if (!goesOn) return false
    }
    if (this.#rest === undefined && this.#isLast) return this.#push(null)
    return this.#rest === undefined
  }

  /** Charges the client with what waits and what is not answered; returns false, with the connection closed, when there is no room. */
  #count(): boolean {
    if (this.#isRefused) return false
    if (this.#meter === undefined || this.#socket.destroyed) return true
    if (this.#meter.hold((this.#rest?.byteLength ?? 0) + this.#unanswered * REQUEST_BYTES)) return true
    // The body of one request: its reader refuses it, with a response.
    if (this.#unanswered === 1) return true
    this.#rest = undefined
    if (this.#unanswered > 1) this.#socket.destroy()
    else this.#refuse()
    return false
  }

  /** Answers for the request that waits; what the client still sends is dropped, since a close would lose the response. */
  #refuse(): void {
    this.#isRefused = true
    this.#meter?.hold(0)
    const socket = this.#socket
    setTimeout(() => socket.destroy(), RPC_LIMITS.lingerMs).unref()
    socket.end(noRoomText(''))
  }

  #waitFor(turn: Promise<void>): void {
    this.#isWaiting = true
    void turn.then(() => {
      this.#isWaiting = false
      this.#pass()
    })
  }
}
