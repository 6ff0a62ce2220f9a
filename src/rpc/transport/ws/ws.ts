import type { IncomingMessage, Server } from 'node:http'
import { createRequire } from 'node:module'
import type { Duplex } from 'node:stream'
import type { WebSocket, WebSocketServer } from 'ws'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import type { Budgets } from '../../router/budgets.ts'
import { type AccessRules, hostAllowed, originAllowed } from '../clients/access.ts'
import type { ClientIdentity } from '../clients/clients.ts'
import type { RouteOptions } from '../http/routes.ts'
import { WsConnection, type WsConnectionOptions } from './ws-connection.ts'

interface WsOptions
  extends Omit<WsConnectionOptions, 'identity'>,
    Pick<AccessRules, 'cors' | 'hosts'>,
    Pick<RouteOptions, 'clients' | 'wsPaths' | 'wsRedirect'> {
  readonly budgets: Pick<Budgets, 'bodies' | 'answers' | 'sockets'>
}

/** Close code of RFC 6455 7.4.1. */
const GOING_AWAY = 1001
const CLOSE_GRACE_MS = 300

/** WebSocket transport on the port of the HTTP server. */
export const attachWebSockets = (server: Server, options: WsOptions) => {
  let created: WebSocketServer | undefined
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // A destroyed socket emits no close event.
    if (socket.destroyed) return
    const refusal = refusalOf(request, options)
    if (refusal !== undefined) {
      refuse(socket, refusal)
      return
    }
    const client = options.clients.identify(request)
    if (client instanceof Promise) {
      socket.on('error', () => socket.destroy())
      void client.then(known => open(request, socket, head, known))
    } else open(request, socket, head, client)
  }
  const open = (request: IncomingMessage, socket: Duplex, head: Buffer, identity: ClientIdentity | undefined): void => {
    if (socket.destroyed) return
    if (identity === undefined) {
      refuse(socket, { status: '401 Unauthorized' })
      return
    }
    let connection: WsConnection | undefined
    const giveWay = (): void => (connection === undefined ? void socket.destroy() : connection.giveWay())
    const place = options.budgets.sockets.take(identity.id, giveWay)
    if (place === undefined) {
      refuse(socket, { status: '503 Service Unavailable', headers: 'retry-after: 1\r\n' })
      return
    }
    socket.once('close', place.free)
    created ??= createWss()
    created.handleUpgrade(request, socket, head, client => {
      client.on('pong', () => silent.delete(client))
      client.on('message', place.used)
      connection = new WsConnection(client, request, { ...options, identity })
    })
  }
  const clients = (): ReadonlySet<WebSocket> => created?.clients ?? NO_CLIENTS
  server.on('upgrade', onUpgrade)
  const heartbeat = setInterval(() => ping(clients()), RPC_LIMITS.socketPingMs).unref()
  return {
    sockets: (): number => clients().size,
    async close(): Promise<void> {
      clearInterval(heartbeat)
      server.off('upgrade', onUpgrade)
      for (const client of clients()) client.close(GOING_AWAY, 'node is stopping')
      const deadline = performance.now() + CLOSE_GRACE_MS
      while (clients().size > 0 && performance.now() < deadline) await new Promise(resolve => setTimeout(resolve, 10))
      for (const client of clients()) client.terminate()
      created?.close()
    },
  }
}

const NO_CLIENTS: ReadonlySet<WebSocket> = new Set()

/** Loaded by the first client: a quiet start does not wait for it. */
const createWss = (): WebSocketServer =>
  new (createRequire(import.meta.url)('ws') as typeof import('ws')).WebSocketServer({
    noServer: true,
    maxPayload: RPC_LIMITS.bodyBytes,
    // Each fragment of a message costs an object, however small it is.
    maxFragments: RPC_LIMITS.socketFragments,
    perMessageDeflate: false,
  })

/** Clients without a pong to the last ping. */
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
  if (path === options.wsRedirect)
    return { status: '301 Moved Permanently', headers: `location: ${options.wsPaths[0]}\r\n` }
  if (!options.wsPaths.includes(path)) return { status: '404 Not Found' }
  if (!hostAllowed(options.hosts, request.headers.host)) return { status: '403 Forbidden' }
  return originAllowed(options.cors, request.headers.origin) ? undefined : { status: '403 Forbidden' }
}

/** Half closed only, a connection would stay as long as its client likes: no time of an HTTP server applies to it any more. */
const refuse = (socket: Duplex, { status, headers = '' }: Refusal): void => {
  socket.on('error', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status}\r\n${headers}connection: close\r\ncontent-length: 0\r\n\r\n`)
  setTimeout(() => socket.destroy(), RPC_LIMITS.lingerMs).unref()
}
