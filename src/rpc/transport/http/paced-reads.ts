import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { sliceOver } from '../../../util/async/time-slice.ts'
import type { Meter } from '../clients/client-budget.ts'
import { clientIdOf } from '../clients/client-id.ts'

/** Received bytes that the HTTP server parses at once: it handles all requests of a piece before anything else can run. */
const PIECE_BYTES = 8 * 1024

const paced = new WeakMap<Duplex, PacedReads>()

/**
 * Paces what the HTTP server reads from a connection that it has just got: pieces of 8 KiB, in turns of the client. Requests can be sent
 * without waiting for answers, about a thousand in the 64 KiB of one read, on every connection of a client. `meter` is charged with the
 * bytes that wait; a connection for whose bytes there is no room is closed. A trusted proxy's has none.
 */
export const paceReads = (socket: Socket, meter: Meter | undefined, received?: Buffer): void => {
  // A listener of its own makes the parser take its bytes from the stream, not from the handle.
  const listener = (): void => {}
  socket.on('data', listener)
  socket.off('data', listener)
  paced.set(socket, new PacedReads(socket, meter, received))
}

/** Frees connections that change to another protocol, which has turns of its own. */
export const unpaceUpgrades = (server: Server): void => {
  server.prependListener('upgrade', (_request, socket) => paced.get(socket)?.end())
}

/** Received bytes of one connection between its handle and its readers. */
class PacedReads {
  readonly #socket: Socket
  readonly #client: string
  readonly #meter: Meter | undefined
  readonly #push: Socket['push']
  readonly #read: Socket['_read']
  /** Bytes that wait for a turn; while there are any, the handle is not read. */
  #rest: Buffer | undefined
  #isWaiting = false
  /** The client has sent all after what waits. */
  #isLast = false
  /** Nothing is paced any more. */
  #isFree = false

  constructor(socket: Socket, meter: Meter | undefined, received: Buffer | undefined) {
    this.#socket = socket
    this.#meter = meter
    this.#client = clientIdOf(socket.remoteAddress)
    this.#push = socket.push.bind(socket)
    this.#read = socket._read.bind(socket)
    socket.push = (chunk: Buffer | null) => this.#take(chunk)
    socket._read = size => {
      if (this.#rest === undefined) this.#read(size)
      else this.#pass()
    }
    if (meter !== undefined) socket.once('close', () => meter.hold(0))
    if (received !== undefined) this.#take(received)
  }

  /** Passes on what waits, and paces nothing any more. */
  end(): void {
    this.#isFree = true
    this.#isWaiting = false
    this.#pass()
  }

  #take(chunk: Buffer | null): boolean {
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
      const turn = this.#isFree ? undefined : sliceOver(this.#client)
      if (turn !== undefined) {
        this.#waitFor(turn)
        return false
      }
      const length = this.#isFree ? this.#rest.byteLength : PIECE_BYTES
      const piece = this.#rest.subarray(0, length)
      this.#rest = this.#rest.byteLength > length ? this.#rest.subarray(length) : undefined
      const goesOn = this.#push(piece)
      this.#count()
      if (!goesOn) return false
    }
    if (this.#rest === undefined && this.#isLast) return this.#push(null)
    return this.#rest === undefined
  }

  /** Charges the client with what waits; returns false, with the connection closed, when there is no room. */
  #count(): boolean {
    if (this.#meter === undefined || this.#socket.destroyed) return true
    if (this.#meter.hold(this.#rest?.byteLength ?? 0)) return true
    this.#rest = undefined
    this.#socket.destroy()
    return false
  }

  #waitFor(turn: Promise<void>): void {
    this.#isWaiting = true
    void turn.then(() => {
      this.#isWaiting = false
      this.#pass()
    })
  }
}
