import type { Socket } from 'node:net'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { Cancellation } from '../../../util/async/cancellation.ts'
import { sliceOver } from '../../../util/async/time-slice.ts'
import { freeMemory } from '../../../util/bytes.ts'
import type { Meter } from '../../../util/client-budget.ts'
import type { Endpoint } from '../../router/method.ts'
import type { ResponseStream, RpcResponse } from '../../router/response.ts'
import type { AccessRules } from '../clients/access.ts'
import type { Budgets } from '../clients/budgets.ts'
import { endpointForClient } from '../clients/client-id.ts'
import { type ClientIdentity, type Clients, chargeOf, clientRefusal } from '../clients/clients.ts'
import { waitingMeter } from '../clients/connection-limit.ts'
import type { RequestGate } from '../request-gate.ts'
import { frame, noRoomText, preflightText, refusalText, timeoutText } from './lane-answers.ts'
import { LaneHeads, type LaneRequest } from './lane-heads.ts'
import { streamAnswer, untilRead, writeText } from './lane-writes.ts'
import { paceReads } from './paced-reads.ts'

export interface LaneOptions extends AccessRules {
  readonly gate: RequestGate
  readonly endpoint: Endpoint
  readonly clients: Clients
  readonly budgets: Pick<Budgets, 'bodies' | 'answers' | 'connections'>
}

interface Exits {
  readonly handOver: () => void
  readonly left: () => void
}

/** A connection for as long as it sends only plain calls. */
export class Lane {
  readonly #socket: Socket
  readonly #options: LaneOptions
  readonly #exits: Exits
  readonly #heads: LaneHeads
  /** Client of the request being handled: behind a proxy each may have another one. */
  #identity: ClientIdentity
  #endpoint: Endpoint
  #meter: Meter
  #answers: Meter
  /** Ends the work of the connection. */
  readonly #cancellation = new Cancellation()
  /** Received bytes that are not handled yet. */
  #rest: Buffer | undefined
  /** Those bytes plus the ones of the request being handled. */
  #heldBytes = 0
  /** Number of chunks received of the unfinished request. */
  #chunks = 0
  #isWaiting = false
  /** True while the unfinished request looks like a plain call. */
  #isPlain = false
  /** True once the client of the next request has no room for it. */
  #isFull = false
  #hasEnded = false
  /** Lines that let a page read the response to the request being read or handled. */
  #cors = ''

  constructor(socket: Socket, options: LaneOptions, exits: Exits) {
    this.#socket = socket
    this.#options = options
    this.#exits = exits
    this.#heads = new LaneHeads(socket, options)
    this.#identity = options.clients.ofConnection(socket)
    this.#endpoint = endpointForClient(options.endpoint, this.#identity.id, this.#cancellation)
    const { client } = this.#endpoint.context
    this.#meter = options.budgets.bodies.meter(client)
    this.#answers = options.budgets.answers.meter(client)
    socket.setNoDelay(true)
    socket.setTimeout(RPC_LIMITS.httpKeepAliveMs)
    socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('timeout', this.#onTimeout)
    socket.on('error', this.#onError)
    socket.on('close', this.#onClose)
  }

  destroy(): void {
    this.#socket.destroy()
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#heldBytes += chunk.byteLength
    this.#rest = this.#rest === undefined ? chunk : joined(this.#rest, chunk)
    this.#chunks++
    if (!this.#meter.hold(this.#heldBytes)) this.#refuse()
    else if (!this.#isWaiting) this.#run()
    // Backpressure: reading pauses while the client sends faster than it is served, since each chunk copies all waiting bytes.
    else if (this.#rest.byteLength > RPC_LIMITS.laneAheadBytes) this.#socket.pause()
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true
    // A disconnected client looks like one that only closed its sending side: wait a moment.
    if (this.#isWaiting) setTimeout(() => this.#socket.destroy(), RPC_LIMITS.lingerMs).unref()
    else this.#socket.end()
  }

  readonly #onTimeout = (): void => {
    if (!this.#isWaiting) this.#socket.destroy()
  }

  /** 'close' follows; broken connections are common and not logged. */
  readonly #onError = (): void => {
    this.#socket.destroy()
  }

  readonly #onClose = (): void => {
    this.#rest = undefined
    this.#cancellation.cancel()
    this.#meter.hold(0)
    this.#answers.hold(0)
    this.#exits.left()
  }

  /** Handles every complete request received; the responses of one pass are sent in one write. */
  #run(): void {
    let out = ''
    while (this.#rest !== undefined && !this.#isWaiting) {
      const request = this.#next(this.#rest)
      if (request === undefined) break
      const answer = this.#answer(request, this.#rest)
      if (answer === undefined) break
      if (typeof answer === 'string') out += answer
      else void (answer instanceof Promise ? this.#wait(answer) : this.#stream(answer))
      if (out.length > RPC_LIMITS.laneWriteBytes || this.#isWaiting) {
        writeText(this.#socket, out)
        out = ''
        if (!this.#isWaiting && this.#socket.writableNeedDrain) this.#pauseUntilWritten()
      }
    }
    writeText(this.#socket, out)
    if (this.#isFull) this.#refuse()
    if (this.#isFull || this.#isWaiting || this.#socket.destroyed) return
    this.#heldBytes = this.#rest?.byteLength ?? 0
    this.#meter.hold(this.#heldBytes)
    if (this.#rest !== undefined) this.#setAside(this.#rest)
    else if (this.#socket.writableNeedDrain) this.#pauseUntilWritten()
  }

  /** Returns the first request once its client is known and it is that client's turn; undefined: not now, or no plain call. */
  #next(bytes: Buffer): LaneRequest | undefined {
    const request = this.#heads.first(bytes)
    this.#isPlain = request !== undefined
    if (request === undefined) return undefined
    if (request instanceof Promise) {
      this.#waitFor(request)
      return undefined
    }
    this.#cors = request.cors
    if (request.identity !== undefined && !this.#serve(request.identity)) return undefined
    const turn = sliceOver(this.#endpoint.context.client)
    if (turn === undefined) return request
    this.#waitFor(turn)
    return undefined
  }

  /** Makes the bytes held and the work of this connection those of a client; returns false when it has no room for them. */
  #serve(identity: ClientIdentity): boolean {
    if (identity === this.#identity) return true
    this.#identity = identity
    const client = identity.id
    if (client === this.#endpoint.context.client) return true
    const { endpoint, budgets } = this.#options
    this.#meter.hold(0)
    this.#answers.hold(0)
    this.#endpoint = endpointForClient(endpoint, client, this.#cancellation)
    this.#meter = budgets.bodies.meter(client)
    this.#answers = budgets.answers.meter(client)
    this.#isFull = !this.#meter.hold(this.#heldBytes)
    return !this.#isFull
  }

  /** Answers the first request and takes it off the waiting bytes; undefined while it is incomplete. */
  #answer(
    { from, to, identity, isPreflight, cors }: LaneRequest,
    bytes: Buffer,
  ): string | Promise<RpcResponse> | ResponseStream | undefined {
    const refusal = isPreflight ? undefined : clientRefusal(identity)
    if (to > bytes.byteLength) {
      // The server refuses before the body has come.
      if (refusal !== undefined) this.#isPlain = false
      return undefined
    }
    this.#chunks = 0
    this.#rest = to === bytes.byteLength ? undefined : bytes.subarray(to)
    this.#heads.taken()
    if (isPreflight) return preflightText(cors)
    if (refusal !== undefined) return refusalText(refusal, cors)
    const answer = this.#options.gate.handle(bytes.subarray(from, to), this.#endpoint, chargeOf(this.#identity))
    return typeof answer === 'string' ? frame(answer, cors) : answer
  }

  /** Waits briefly for the rest of a plain call; anything else, or slow small chunks, goes to the server. */
  #setAside(bytes: Buffer): void {
    if (!this.#isPlain || this.#chunks >= RPC_LIMITS.laneChunks) this.#handOver(bytes)
  }

  #handOver(bytes: Buffer): void {
    const socket = this.#socket
    socket.pause()
    socket.setTimeout(0)
    socket.off('data', this.#onData)
    socket.off('end', this.#onEnd)
    socket.off('timeout', this.#onTimeout)
    socket.off('error', this.#onError)
    socket.off('close', this.#onClose)
    this.#exits.left()
    // The server accounts for the bytes it reads.
    this.#meter.hold(0)
    this.#exits.handOver()
    const { clients, budgets } = this.#options
    paceReads(socket, waitingMeter(socket, clients, budgets.bodies), bytes)
    socket.resume()
  }

  /** Request budget exhausted: sends an error, closes this connection and frees its bytes. */
  #refuse(): void {
    this.#rest = undefined
    this.#socket.off('data', this.#onData)
    this.#socket.end(noRoomText(this.#cors), () => this.#socket.destroy())
  }

  async #wait(answer: Promise<RpcResponse>): Promise<void> {
    this.#isWaiting = true
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      this.#cancellation.cancel()
      this.#socket.end(timeoutText(this.#cors))
    }, RPC_LIMITS.httpRequestMs)
    const made = await answer
    clearTimeout(timer)
    if (isLate || this.#socket.destroyed) {
      if (typeof made !== 'string') made.cancel()
      return
    }
    if (typeof made !== 'string') return this.#stream(made)
    this.#isWaiting = false
    writeText(this.#socket, frame(made, this.#cors))
    this.#goOn()
  }

  async #stream(answer: ResponseStream): Promise<void> {
    this.#isWaiting = true
    const { client } = this.#endpoint.context
    if (!(await streamAnswer(this.#socket, answer, { cors: this.#cors, client, meter: this.#answers }))) return
    this.#isWaiting = false
    this.#goOn()
  }

  /** Reads and handles nothing until it is the client's turn, or its token is verified. */
  #waitFor(turn: Promise<unknown>): void {
    this.#isWaiting = true
    this.#socket.pause()
    void turn.then(() => {
      this.#isWaiting = false
      if (!this.#socket.destroyed) this.#goOn()
    })
  }

  /** Pauses until the client has read the responses; one that is too slow or has too many unread bytes is disconnected. */
  #pauseUntilWritten(): void {
    this.#isWaiting = true
    void untilRead(this.#socket, this.#answers).then(isRead => {
      if (!isRead) return void this.#socket.destroy()
      this.#isWaiting = false
      if (!this.#socket.destroyed) this.#goOn()
    })
  }

  #goOn(): void {
    this.#run()
    if (this.#isWaiting || this.#socket.destroyed) return
    if (this.#hasEnded) this.#socket.end()
    else if (this.#socket.isPaused()) this.#socket.resume()
  }
}

/** Returns both in one buffer; their memory is freed. */
const joined = (before: Buffer, chunk: Buffer): Buffer => {
  const both = Buffer.concat([before, chunk])
  freeMemory(before)
  freeMemory(chunk)
  return both
}
