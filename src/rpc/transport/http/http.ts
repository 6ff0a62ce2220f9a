import {
  createServer as createPlain,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import type { Budgets } from '../../router/budgets.ts'
import { type AccessRules, corsFields, hostAllowed, originAllowed } from '../clients/access.ts'
import { type ClientIdentity, clientRefusal } from '../clients/clients.ts'
import { Connections } from '../clients/connections.ts'
import { type CallOptions, createCallHandler, type Fields, pathOfUrl, sendLine } from './calls.ts'
import { limitPieces } from './read-body.ts'
import type { RouteOptions } from './routes.ts'

export interface HttpOptions extends AccessRules, CallOptions, RouteOptions {
  /** Certificate and key; undefined: not encrypted. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined
  readonly budgets: Pick<Budgets, 'bodies' | 'answers' | 'connections'>
}

const SERVER_OPTIONS = {
  requestTimeout: RPC_LIMITS.httpRequestMs,
  headersTimeout: RPC_LIMITS.httpHeadersMs,
  connectionsCheckingInterval: RPC_LIMITS.httpCheckMs,
  keepAliveTimeout: RPC_LIMITS.httpKeepAliveMs,
  maxHeaderSize: RPC_LIMITS.headBytes,
}

/** HTTP transport (docs/design/rpc.md#transport): the server handles calls itself; the first other request loads the routes. */
export const createHttp = (options: HttpOptions) => {
  let loading: Promise<FastifyInstance> | undefined
  let loaded: FastifyInstance | undefined
  const routes = (): Promise<FastifyInstance> => {
    loading ??= import('./routes.ts').then(async ({ createRoutes }) => {
      loaded = await createRoutes(options)
      return loaded
    })
    return loading
  }
  /** Requests have their turns once the routes are loaded: those that came before go on together. */
  const route = (request: IncomingMessage, response: ServerResponse): void => {
    if (loaded === undefined) return void routes().then(() => route(request, response))
    if (response.destroyed) return
    limitPieces(request)
    loaded.routing(request, response)
  }
  const server = createServer(options, new Connections(options.clients, options.budgets), route)
  return {
    server,
    routes,
    async close(): Promise<void> {
      const closed = new Promise<unknown>(resolve => server.close(resolve))
      server.closeAllConnections()
      await Promise.all([closed, loading?.then(app => app.close())])
    },
  }
}

type Route = (request: IncomingMessage, response: ServerResponse) => void

const createServer = (options: HttpOptions, connections: Connections, route: Route): Server => {
  const { tls } = options
  const listener = listenerFor(options, connections, route)
  const serverOptions = {
    ...SERVER_OPTIONS,
    // A response to an earlier request would be written into the frames of a WebSocket.
    shouldUpgradeCallback: ({ headers, socket }: IncomingMessage) =>
      headers.upgrade?.toLowerCase() === 'websocket' && !connections.hasUnanswered(socket),
  }
  const server: Server =
    tls === undefined
      ? createPlain(serverOptions, listener)
      : process.getBuiltinModule('node:https').createServer({ ...serverOptions, ...tls }, listener)
  server.on('clientError', (error, socket) => refuseUnparsed(error, socket as Socket, connections.mayRefuse(socket)))
  server.maxRequestsPerSocket = RPC_LIMITS.connectionRequests
  if (tls === undefined)
    server.on('connection', socket => {
      const place = connections.admit(socket)
      if (place !== undefined) connections.add(socket, place)
    })
  else
    server
      .on('connection', socket => connections.admitEncrypted(socket))
      .on('secureConnection', socket => connections.add(socket))
  server.prependListener('upgrade', ({ socket }) => connections.upgraded(socket))
  return server
}

/** Checks a request and hands it to calls or to the router of the other paths, when it is its client's turn. */
const listenerFor = (options: HttpOptions, connections: Connections, route: Route): Route => {
  const { hosts, cors, checkOrigin, clients } = options
  const call = createCallHandler(options)
  const callPaths = new Set(['/', ...options.wsPaths])
  const serve: Route = (request, response) => {
    const { host, origin } = request.headers
    if (!hostAllowed(hosts, host)) return sendLine(response, 403, 'invalid host specified', {})
    if (checkOrigin && !originAllowed(cors, origin)) return sendLine(response, 403, 'invalid origin specified', {})
    const fields = corsFields(cors, origin, request.method === 'OPTIONS')
    if (request.method !== 'POST') return passOn(request, response, fields)
    const identity = clients.identify(request)
    if (identity instanceof Promise) void identity.then(known => post(request, response, fields, known))
    else post(request, response, fields, identity)
  }
  const post = (
    request: IncomingMessage,
    response: ServerResponse,
    fields: Fields,
    identity: ClientIdentity | undefined,
  ): void => {
    const refusal = clientRefusal(identity)
    if (refusal !== undefined) sendLine(response, refusal.status, refusal.text, { ...fields, ...refusal.headers })
    else if (callPaths.has(pathOfUrl(request.url ?? ''))) call(request, response, identity as ClientIdentity, fields)
    else passOn(request, response, fields)
  }
  const passOn = (request: IncomingMessage, response: ServerResponse, fields: Fields): void => {
    for (const [name, value] of Object.entries(fields)) response.setHeader(name, value)
    route(request, response)
  }
  return (request, response) => {
    if (!connections.begin(request, response)) return
    const turn = connections.turnOf(request, clients.idOf(request))
    if (turn === undefined) serve(request, response)
    else void turn.then(() => response.destroyed || serve(request, response))
  }
}

/** Statuses of what is no request; others are 400. */
const STATUS_OF_ERROR: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
}

/** Ends a connection whose bytes are no request, with a status when its client cannot take that for the response to an earlier request. */
const refuseUnparsed = (error: NodeJS.ErrnoException, socket: Socket, mayRefuse: boolean): void => {
  if (!mayRefuse || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const status = STATUS_OF_ERROR[error.code ?? ''] ?? 400
  const reason = STATUS_CODES[status] as string
  const fields = `content-type: text/plain\r\nconnection: close\r\ncontent-length: ${reason.length + 1}`
  const text = `HTTP/1.1 ${status} ${reason}\r\n${fields}\r\n\r\n${reason}\n`
  socket.end(text, () => socket.destroy())
}
