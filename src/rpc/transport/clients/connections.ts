import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import type { Meter } from '@tandem/base/client-budget.ts'
import type { Place } from '@tandem/base/fair-places.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { BODIES_FULL, type Budgets } from '../../router/budgets.ts'
import { type Clients, clientIdOf } from './clients.ts'

interface Owner {
  readonly connections: Set<Connection>
  /** Number of its requests that wait for its turn. */
  waiting: number
}

interface Connection {
  readonly socket: Socket
  /** undefined: a trusted proxy, which speaks for many clients. */
  readonly owner: Owner | undefined
  readonly place: Place | undefined
  /** Charged for unanswered requests. */
  readonly meter: Meter | undefined
  /** Node.js resumes a connection whenever the rest of a request is to be read: pauses it again when it is held. */
  readonly pauseHeld: () => void
  /** Listener of the close of each of its responses. */
  readonly answered: () => void
  /** Requests without a whole response. */
  unanswered: number
  /** Requests that it may still have. */
  left: number
  /** Response to the last request so far. */
  last: ServerResponse | undefined
  /** The connection ends with the response to the last request: what is parsed behind it is not handled. */
  isEnding: boolean
}

/**
 * Connections of one port. Each takes a place, and a full port gives that of the longest idle one to a newcomer (FairPlaces). A connection
 * with many unanswered requests is not read, and neither is any of a client whose turn of the main thread is over.
 */
export class Connections {
  readonly #clients: Clients
  readonly #budgets: Pick<Budgets, 'bodies' | 'connections'>
  readonly #known = new WeakMap<Duplex, Connection>()
  readonly #owners = new Map<string, Owner>()
  /** Places of encrypted connections that are being established, by address and port of the other end. */
  readonly #establishing = new Map<string, Place>()

  constructor(clients: Clients, budgets: Pick<Budgets, 'bodies' | 'connections'>) {
    this.#clients = clients
    this.#budgets = budgets
  }

  /** Takes a place for a new connection, or destroys it. */
  admit(socket: Socket): Place | undefined {
    const isProxy = this.#clients.isProxy(socket.remoteAddress)
    const limit = isProxy ? Number.POSITIVE_INFINITY : undefined
    const place = this.#budgets.connections.take(clientIdOf(socket.remoteAddress), () => socket.destroy(), limit)
    if (place === undefined) socket.destroy()
    else socket.once('close', place.free)
    return place
  }

  /** Takes a place for a connection whose requests come on another socket, once it is encrypted. */
  admitEncrypted(socket: Socket): void {
    const place = this.admit(socket)
    if (place === undefined) return
    const key = otherEnd(socket)
    this.#establishing.set(key, place)
    socket.once('close', () => this.#establishing.delete(key))
  }

  /** Begins to count the requests of a connection. */
  add(socket: Socket, place = this.#establishing.get(otherEnd(socket))): void {
    if (socket.destroyed) return
    const client = clientIdOf(socket.remoteAddress)
    const isProxy = this.#clients.isProxy(socket.remoteAddress)
    const owner = isProxy
      ? undefined
      : getOrMake(this.#owners, client, () => ({ connections: new Set<Connection>(), waiting: 0 }))
    const meter = isProxy ? undefined : this.#budgets.bodies.meter(client)
    const pauseHeld = (): void => {
      if (!isHeld(connection)) return
      // The event of a resume that was due before a pause comes after it.
      if (socket.isPaused()) socket.emit('pause')
      else socket.pause()
    }
    const connection: Connection = {
      ...{ socket, owner, place, meter, pauseHeld, answered: () => this.#answered(connection) },
      ...{ unanswered: 0, left: RPC_LIMITS.connectionRequests, last: undefined, isEnding: false },
    }
    this.#known.set(socket, connection)
    socket.on('resume', pauseHeld)
    if (owner === undefined) return
    owner.connections.add(connection)
    socket.once('close', () => {
      owner.connections.delete(connection)
      // A connection that has upgraded may outlive its owner, whose client has another one by then.
      if (owner.connections.size === 0 && this.#owners.get(client) === owner) this.#owners.delete(client)
      meter?.hold(0)
    })
  }

  /** Counts a request. Returns false when it is not to be handled. */
  begin({ socket, headers }: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#known.get(socket)
    if (connection === undefined) return true
    if (connection.isEnding || socket.destroyed) return false
    const { place, meter } = connection
    connection.last = response
    const unanswered = ++connection.unanswered
    if (unanswered === 1) place?.setBusy(true)
    if (isHeld(connection)) socket.pause()
    response.on('close', connection.answered)
    // An upgrade that is not taken: the parser drops what it has read behind such a request.
    if (headers.upgrade !== undefined) endAfter(connection, response)
    if (meter === undefined || meter.hold(unanswered * RPC_LIMITS.unansweredBytes)) return true
    endAfter(connection, response)
    response.writeHead(503, { 'retry-after': '1', 'content-type': 'text/plain' }).end(`${BODIES_FULL}\n`)
    return false
  }

  /** Returns true while a connection has requests without a whole response. */
  hasUnanswered(socket: Duplex): boolean {
    return (this.#known.get(socket)?.unanswered ?? 0) > 0
  }

  #answered(connection: Connection): void {
    const { place, meter, socket } = connection
    const unanswered = --connection.unanswered
    meter?.hold(socket.destroyed ? 0 : unanswered * RPC_LIMITS.unansweredBytes)
    place?.used()
    if (unanswered === 0) place?.setBusy(false)
    // Node.js says with the last response that the connection ends, and keeps it: requests sent meanwhile are refused.
    if (--connection.left === 0) setTimeout(() => socket.destroySoon(), RPC_LIMITS.lingerMs).unref()
    if (unanswered === RPC_LIMITS.unansweredRequests - 1 && !isHeld(connection)) socket.resume()
  }

  /** Returns a promise to await before a request of a client is handled; undefined while it has time (sliceOver). */
  turnOf({ socket }: IncomingMessage, client: string): Promise<void> | undefined {
    const turn = sliceOver(client)
    const owner = this.#known.get(socket)?.owner
    if (turn === undefined || owner === undefined) return turn
    if (owner.waiting++ === 0) for (const connection of owner.connections) connection.socket.pause()
    return turn.then(() => {
      if (--owner.waiting > 0) return
      for (const connection of owner.connections) if (!isHeld(connection)) connection.socket.resume()
    })
  }

  /** The connection has changed to another protocol, which has turns of its own. */
  upgraded(socket: Duplex): void {
    const connection = this.#known.get(socket)
    if (connection === undefined) return
    this.#known.delete(socket)
    socket.off('resume', connection.pauseHeld)
    connection.owner?.connections.delete(connection)
    connection.place?.setBusy(true)
  }

  /** Returns true when a response to what could not be parsed cannot be taken for one to an earlier request. */
  mayRefuse(socket: Duplex): boolean {
    const { unanswered = 0, last } = this.#known.get(socket) ?? {}
    return unanswered === 0 || (unanswered === 1 && last?.headersSent === false && !last.req.complete)
  }
}

/** Returns true while a connection is not read. */
const isHeld = ({ unanswered, owner }: Connection): boolean =>
  unanswered >= RPC_LIMITS.unansweredRequests || (owner !== undefined && owner.waiting > 0)

const otherEnd = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

const endAfter = (connection: Connection, response: ServerResponse): void => {
  connection.isEnding = true
  response.setHeader('connection', 'close')
}
