import type { IncomingMessage } from 'node:http'
import { Cancellation } from '@tandem/base/async/cancellation.ts'
import type { MaybePromise } from '@tandem/base/async/maybe-promise.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import type { Meter } from '@tandem/base/client-budget.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { WebSocket } from 'ws'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { BODIES_FULL, type Budgets } from '../../router/budgets.ts'
import { type Arrival, CallOrder } from '../../router/call-order.ts'
import type { Endpoint } from '../../router/method.ts'
import type { RpcResponse } from '../../router/response.ts'
import type { MessageScope, SocketSession, SubscriptionHub } from '../../subscriptions/subscription-hub.ts'
import { type ClientIdentity, chargeOf, isBeyondRate } from '../clients/clients.ts'
import { isSmallCall, type RequestGate } from '../request-gate.ts'
import { SocketSender } from './ws-sender.ts'

export interface WsConnectionOptions {
  readonly gate: RequestGate
  readonly endpoint: Endpoint
  readonly hub: SubscriptionHub
  readonly identity: ClientIdentity
  readonly budgets: Pick<Budgets, 'bodies' | 'answers'>
  readonly log: Logger
}

/** Close code of RFC 6455 7.4.1. */
const TRY_AGAIN_LATER = 1013
/** Header and mask of a control frame. */
const CONTROL_BYTES = 6
const RATE_LIMITED = '{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"too many requests"}}'

/** Connection of one WebSocket client: hands its messages to the router, sends responses, and counts the bytes held for it. */
export class WsConnection {
  readonly #client: WebSocket
  readonly #options: WsConnectionOptions
  readonly #cancellation = new Cancellation()
  readonly #sender: SocketSender
  readonly #session: SocketSession
  readonly #order = new CallOrder()
  readonly #plainScope: MessageScope
  readonly #plainEndpoint: Endpoint
  readonly #charge: ((weight: number) => void) | undefined
  readonly #meter: Meter
  #inFlight = 0
  /** Bytes of incomplete messages, and of messages being handled. */
  #arrivingBytes = 0
  #answeringBytes = 0
  #isGone = false
  #isDropped = false
  /** Reasons not to read further: too many requests under way, and a turn that is awaited. */
  #pauses = 0
  /** Messages received while a turn is awaited, and their bytes. */
  readonly #waiting: Buffer[] = []
  #waitingBytes = 0
  #awaitsTurn = false

  constructor(client: WebSocket, request: IncomingMessage, options: WsConnectionOptions) {
    const { identity, budgets, hub } = options
    const { address, id } = identity
    const { socket } = request
    this.#client = client
    this.#options = options
    // A client that does not read is disconnected, since its backlog uses shared memory.
    const drop = (reason: string) => this.#drop(reason)
    const sender = new SocketSender({ client, socket, owner: id, meter: budgets.answers.meter(id), drop })
    this.#sender = sender
    this.#session = hub.open({ send: frame => sender.send(frame), drained: () => sender.drained(), drop }, id)
    this.#plainScope = this.#session.scope()
    this.#plainEndpoint = this.#endpointOf(this.#plainScope)
    this.#charge = chargeOf(identity)
    this.#meter = budgets.bodies.meter(id)
    // Before the parser, so that its work counts as the client's.
    socket.prependListener('data', (chunk: Buffer) => this.#arrived(chunk.byteLength))
    client.on('message', (message: Buffer) => this.#receive(message))
    client.on('ping', payload => this.#forget(payload))
    client.on('pong', payload => this.#forget(payload))
    client.on('error', error => options.log.debug({ address, reason: error.message }, 'websocket failed'))
    client.on('close', () => this.#closed())
  }

  #endpointOf(messageScope: MessageScope, arrival?: Arrival): Endpoint {
    const { methods, context } = this.#options.endpoint
    const mine = { client: this.#options.identity.id, cancellation: this.#cancellation, order: this.#order }
    return { methods, context: { ...context, ...mine, socket: messageScope, ...(arrival && { arrival }) } }
  }

  #arrived(bytes: number): void {
    if (this.#isGone || this.#isDropped) return
    this.#arrivingBytes += bytes
    if (!this.#hold()) this.#drop(BODIES_FULL)
    else if (!this.#awaitsTurn) this.#takeTurn()
  }

  /** Returns false when the client must wait for its turn: nothing is read or handled until then. */
  #takeTurn(): boolean {
    const turn = sliceOver(this.#options.identity.id)
    if (turn === undefined) return true
    this.#awaitsTurn = true
    this.#pause()
    void turn.then(() => {
      this.#awaitsTurn = false
      while (this.#waiting.length > 0 && this.#takeTurn()) this.#handleNext()
      this.#hold()
      this.#resume()
    })
    return false
  }

  /** Charges the client with all bytes of its requests here; returns false when there is no room. */
  #hold(): boolean {
    return this.#meter.hold(this.#arrivingBytes + this.#waitingBytes + this.#answeringBytes)
  }

  /** Messages come in order, also those that were already read when the turn was over. */
  #receive(message: Buffer): void {
    // The rest of what was read when the connection was dropped.
    if (this.#isDropped) return
    // The bytes of the next message in the last chunk are too few to count.
    this.#arrivingBytes = 0
    if (!this.#awaitsTurn && this.#takeTurn()) {
      this.#handle(message)
      return
    }
    // One read may bring thousands of short messages, each of which takes more memory than its bytes.
    if (this.#waiting.length === RPC_LIMITS.socketWaiting) this.#handleNext()
    this.#waitingBytes += message.byteLength
    this.#waiting.push(message)
  }

  #handleNext(): void {
    const message = this.#waiting.shift() as Buffer
    this.#waitingBytes -= message.byteLength
    this.#handle(message)
  }

  #pause(): void {
    if (++this.#pauses === 1) this.#client.pause()
  }

  #resume(): void {
    if (--this.#pauses === 0) this.#client.resume()
  }

  /** Bytes that are not part of a message are freed once read. */
  #forget(payload: Buffer): void {
    this.#arrivingBytes = Math.max(0, this.#arrivingBytes - payload.byteLength - CONTROL_BYTES)
  }

  #handle(message: Buffer): void {
    const { gate, identity } = this.#options
    const bytes = message.byteLength
    // The bytes of the next message in the last chunk are too few to count.
    this.#arrivingBytes = 0
    if (isBeyondRate(identity)) {
      this.#sender.send(RATE_LIMITED)
      return
    }
    // A message whose response may come after the next one's holds back only its own subscriptions.
    const mayWait = !isSmallCall(message)
    const messageScope = mayWait ? this.#session.scope() : this.#plainScope
    const arrival = mayWait ? this.#order.arrive() : undefined
    const endpoint = mayWait ? this.#endpointOf(messageScope, arrival) : this.#plainEndpoint
    const answer = gate.handle(message, endpoint, this.#charge)
    if (typeof answer !== 'string') {
      void this.#answerLater(answer, bytes, messageScope, arrival)
      return
    }
    arrival?.release()
    if (answer !== '') this.#sender.send(answer)
    messageScope.release()
  }

  async #answerLater(
    answer: MaybePromise<RpcResponse>,
    bytes: number,
    messageScope: MessageScope,
    arrival: Arrival | undefined,
  ): Promise<void> {
    if (++this.#inFlight === RPC_LIMITS.socketInFlight) this.#pause()
    this.#answeringBytes += bytes
    const rpcResponse = await answer
    arrival?.release()
    let sent: Promise<void> | undefined
    // Started before the release: notifications queue behind a stream by themselves.
    if (typeof rpcResponse !== 'string') sent = this.#sender.stream(rpcResponse)
    else if (rpcResponse !== '') this.#sender.send(rpcResponse)
    messageScope.release()
    await sent
    this.#answeringBytes -= bytes
    this.#hold()
    if (this.#inFlight-- === RPC_LIMITS.socketInFlight) this.#resume()
  }

  /** Ends the connection at once: a newcomer needs its place. */
  giveWay(): void {
    this.#drop('idle for longest, and there are too many connections')
    this.#client.terminate()
  }

  /** Nothing more is read: the bytes of a client that sends on would be kept and its messages handled until the termination. */
  #drop(reason: string): void {
    if (this.#isDropped) return
    this.#isDropped = true
    this.#pause()
    this.#forgetWaiting()
    this.#options.log.debug({ address: this.#options.identity.address, reason }, 'websocket dropped')
    this.#cancellation.cancel()
    this.#session.close()
    this.#client.close(TRY_AGAIN_LATER, reason)
    // Unread bytes are charged to the client until the termination.
    setTimeout(() => this.#client.terminate(), RPC_LIMITS.lingerMs).unref()
  }

  #closed(): void {
    this.#cancellation.cancel()
    this.#sender.release()
    this.#session.close()
    // Messages still being handled are charged until they are done.
    this.#isGone = true
    this.#arrivingBytes = 0
    this.#forgetWaiting()
    this.#hold()
  }

  #forgetWaiting(): void {
    this.#waitingBytes = 0
    this.#waiting.length = 0
  }
}
