import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import { Cancellation } from '../../util/async/cancellation.ts'
import type { Logger } from '../../util/logger.ts'
import type { MaybePromise } from '../methods/block-reads.ts'
import type { Endpoint } from '../router/method.ts'
import type { RpcResponse } from '../router/response.ts'
import type { MessageScope, SubscriptionHub } from '../subscriptions/subscription-hub.ts'
import { hostAllowed, originAllowed } from './access.ts'
import { BODIES_FULL, type Budgets } from './budgets.ts'
import { clientIdOf } from './client-id.ts'
import type { RateLimiter } from './rate-limit.ts'
import { isSmallCall, type RequestGate } from './request-gate.ts'
import { SocketSender } from './ws-sender.ts'

export interface WsOptions {
  readonly gate: RequestGate
  readonly endpoint: Endpoint
  readonly hub: SubscriptionHub
  readonly paths: readonly string[]
  readonly redirect: string | null
  readonly cors: readonly string[]
  readonly hosts: readonly string[]
  readonly buckets: RateLimiter | undefined
  readonly budgets: Pick<Budgets, 'bodies' | 'answers' | 'sockets'>
  readonly log: Logger
}

/** Close codes of RFC 6455 7.4.1. */
const GOING_AWAY = 1001
const TRY_AGAIN_LATER = 1013
const CLOSE_GRACE_MS = 300
/** Header and mask of a control frame. */
const CONTROL_BYTES = 6
const RATE_LIMITED = '{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"too many requests"}}'

/** WebSocket transport on the port of the HTTP server. */
export const attachWebSockets = (
  server: Server,
  options: WsOptions,
): { readonly sockets: () => number; close(): Promise<void> } => {
  const wss = new WebSocketServer({
    noServer: true,
    maxPayload: RPC_LIMITS.bodyBytes,
    // Each fragment of a message costs an object, however small it is.
    maxFragments: RPC_LIMITS.socketFragments,
    perMessageDeflate: false,
  })
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // A destroyed socket emits no close event.
    if (socket.destroyed) return
    const place = options.budgets.sockets.meter(clientIdOf(request.socket.remoteAddress))
    const refusal = refusalOf(request, options) ?? (place.hold(1) ? undefined : { status: '503 Service Unavailable' })
    if (refusal !== undefined) {
      refuse(socket, refusal)
      return
    }
    socket.once('close', () => place.hold(0))
    wss.handleUpgrade(request, socket, head, client => serve(client, request, options))
  }
  server.on('upgrade', onUpgrade)
  const heartbeat = setInterval(() => ping(wss.clients), RPC_LIMITS.socketPingMs).unref()
  return {
    sockets: () => wss.clients.size,
    async close() {
      clearInterval(heartbeat)
      server.off('upgrade', onUpgrade)
      for (const client of wss.clients) client.close(GOING_AWAY, 'node is stopping')
      const deadline = performance.now() + CLOSE_GRACE_MS
      while (wss.clients.size > 0 && performance.now() < deadline) await new Promise(resolve => setTimeout(resolve, 10))
      for (const client of wss.clients) client.terminate()
      wss.close()
    },
  }
}

/** Clients that have not answered the last ping. */
const silent = new WeakSet<WebSocket>()

/** Finds and closes dead connections long before TCP notices. */
const ping = (clients: Iterable<WebSocket>): void => {
  for (const client of clients) {
    if (silent.has(client)) {
      client.terminate()
      continue
    }
    silent.add(client)
    client.ping()
  }
}

interface Refusal {
  readonly status: string
  readonly headers?: string
}

const refusalOf = (request: IncomingMessage, options: WsOptions): Refusal | undefined => {
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
  if (path === options.redirect)
    return { status: '301 Moved Permanently', headers: `location: ${options.paths[0]}\r\n` }
  if (!options.paths.includes(path)) return { status: '404 Not Found' }
  if (!hostAllowed(options.hosts, request.headers.host)) return { status: '403 Forbidden' }
  return originAllowed(options.cors, request.headers.origin) ? undefined : { status: '403 Forbidden' }
}

const refuse = (socket: Duplex, { status, headers = '' }: Refusal): void => {
  socket.on('error', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status}\r\n${headers}connection: close\r\ncontent-length: 0\r\n\r\n`)
}

const serve = (client: WebSocket, request: IncomingMessage, options: WsOptions): void => {
  const { gate, hub, endpoint, buckets, budgets, log } = options
  const address = request.socket.remoteAddress ?? ''
  const from = clientIdOf(address)
  const cancellation = new Cancellation()
  let inFlight = 0

  const drop = (reason: string): void => {
    log.debug({ address, reason }, 'websocket dropped')
    cancellation.cancel()
    socketSession.close()
    client.close(TRY_AGAIN_LATER, reason)
    // Unread bytes are charged to the client until the termination.
    setTimeout(() => client.terminate(), RPC_LIMITS.lingerMs).unref()
  }
  // A client that does not read is disconnected, since its backlog uses shared memory.
  const sender = new SocketSender(client, budgets.answers.meter(from), drop)
  const socketSession = hub.open(frame => sender.send(frame), from)
  const endpointOf = (messageScope: MessageScope): Endpoint => ({
    methods: endpoint.methods,
    context: { ...endpoint.context, socket: messageScope, client: from, cancellation },
  })
  const plainScope = socketSession.scope()
  const plain = endpointOf(plainScope)
  const charge = buckets && ((calls: number) => buckets.charge(address, calls))

  const answerWith = async (rpcResponse: RpcResponse, messageScope: MessageScope): Promise<void> => {
    if (typeof rpcResponse === 'string') {
      if (rpcResponse !== '') sender.send(rpcResponse)
      messageScope.release()
      return
    }
    // Started before the release: notifications queue behind a stream by themselves.
    const sent = sender.stream(rpcResponse)
    messageScope.release()
    await sent
  }
  const meter = budgets.bodies.meter(from)
  /** Bytes of incomplete messages, and of messages being handled. */
  let arrivingBytes = 0
  let answeringBytes = 0
  let isGone = false
  request.socket.on('data', (chunk: Buffer) => {
    if (isGone) return
    arrivingBytes += chunk.byteLength
    if (!meter.hold(arrivingBytes + answeringBytes)) drop(BODIES_FULL)
  })
  const later = async (answer: MaybePromise<RpcResponse>, bytes: number, messageScope: MessageScope): Promise<void> => {
    if (++inFlight === RPC_LIMITS.socketInFlight) client.pause()
    answeringBytes += bytes
    await answerWith(await answer, messageScope)
    answeringBytes -= bytes
    meter.hold(arrivingBytes + answeringBytes)
    if (inFlight-- === RPC_LIMITS.socketInFlight) client.resume()
  }
  client.on('message', (message: Buffer) => {
    // The bytes of the next message in the last chunk are too few to count.
    arrivingBytes = 0
    if (buckets !== undefined && !buckets.allows(address)) return sender.send(RATE_LIMITED)
    // A message that may be answered after the next one holds back only its own subscriptions.
    const mayWait = !isSmallCall(message)
    const messageScope = mayWait ? socketSession.scope() : plainScope
    const answer = gate.handle(message, mayWait ? endpointOf(messageScope) : plain, charge)
    if (typeof answer !== 'string') return void later(answer, message.byteLength, messageScope)
    if (answer !== '') sender.send(answer)
    messageScope.release()
  })
  /** Bytes that are not part of a message are freed once read. */
  const forget = (payload: Buffer): void => {
    arrivingBytes = Math.max(0, arrivingBytes - payload.byteLength - CONTROL_BYTES)
  }
  client.on('ping', forget)
  client.on('pong', payload => {
    silent.delete(client)
    forget(payload)
  })
  client.on('error', error => log.debug({ address, reason: error.message }, 'websocket failed'))
  client.on('close', () => {
    cancellation.cancel()
    sender.release()
    socketSession.close()
    // Messages still being handled are charged until they are done.
    isGone = true
    arrivingBytes = 0
    meter.hold(answeringBytes)
  })
}
