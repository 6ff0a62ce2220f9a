import {
  createServer as createPlain,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import { createServer as createEncrypted } from 'node:https'
import type { Socket } from 'node:net'
import { ASSETS_PATH, wantsPage } from '@tandem/web/negotiation.ts'
import type { WebResponse } from '@tandem/web/response.ts'
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import type { HealthStatus } from '../../ports.ts'
import type { Budgets } from '../../router/budgets.ts'
import { type AccessRules, corsFields, hostAllowed, originAllowed, VERBS } from '../clients/access.ts'
import { type ClientIdentity, type Clients, clientRefusal } from '../clients/clients.ts'
import { Connections } from '../clients/connections.ts'
import { type CallOptions, createCallHandler, type Fields, JSON_TYPE, sendLine } from './calls.ts'
import { limitPieces } from './read-body.ts'

export interface HttpOptions extends AccessRules, CallOptions {
  readonly wsPaths: readonly string[]
  /** Redirected by 301 to the first of `wsPaths`; null on most networks. */
  readonly wsRedirect: string | null
  /** Certificate and key; undefined: not encrypted. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined
  readonly clients: Clients
  readonly budgets: Pick<Budgets, 'bodies' | 'answers' | 'connections'>
  readonly health: () => HealthStatus
  /** Omitted: `GET /` returns an empty text to everybody. */
  readonly pages?: NodePages | undefined
}

/** Pages for browsers on the port of JSON-RPC. */
export interface NodePages {
  /** The node's own page. */
  front(request: {
    readonly host: string | undefined
    readonly acceptEncoding: string | undefined
  }): Promise<WebResponse>
  /** A style sheet or script of a page; undefined: there is none at the path. */
  asset(path: string, acceptEncoding: string | undefined): Promise<WebResponse | undefined>
}

/** Routes of this port declare no schema; this avoids loading fastify's compilers at every start. */
const noSchemas = (): never => {
  throw new Error('a route with a schema needs schema compilers')
}

const SERVER_OPTIONS = {
  requestTimeout: RPC_LIMITS.httpRequestMs,
  headersTimeout: RPC_LIMITS.httpHeadersMs,
  connectionsCheckingInterval: RPC_LIMITS.httpCheckMs,
  keepAliveTimeout: RPC_LIMITS.httpKeepAliveMs,
  maxHeaderSize: RPC_LIMITS.headBytes,
}

/**
 * HTTP transport: POST for calls, GET for load balancers, clear statuses for everything else (docs/design/rpc.md#transport). The server
 * handles calls itself, and leaves other requests to fastify's router.
 */
export const createHttp = (options: HttpOptions): FastifyInstance => {
  const connections = new Connections(options.clients, options.budgets)
  const app = fastify({
    serverFactory: route => createServer(options, connections, route),
    clientErrorHandler: (error, socket) => refuseUnparsed(error, socket, connections.mayRefuse(socket)),
    bodyLimit: RPC_LIMITS.bodyBytes,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  })
  app.removeAllContentTypeParsers()
  // Routes that take a body bring their parsers; of another body Node.js drops what it has not read.
  app.addContentTypeParser(JSON_TYPE, (_request, _payload, done) => done(null))
  app.setErrorHandler(({ statusCode = 500 }: { readonly statusCode?: number }, _request, reply) =>
    reply
      .type('text/plain')
      .code(statusCode)
      .send(`${STATUS_CODES[statusCode] ?? 'error'}\n`),
  )
  // For limits of other routes on this port.
  if (!options.clients.isByConnection)
    app.addHook('onRequest', (request, _reply, done) => {
      Object.defineProperty(request, 'ip', { value: options.clients.addressOf(request.raw) })
      done()
    })
  addRoutes(app, options)
  return app
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
    tls === undefined ? createPlain(serverOptions, listener) : createEncrypted({ ...serverOptions, ...tls }, listener)
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
    else if (callPaths.has(pathOf(request.url ?? ''))) call(request, response, identity as ClientIdentity, fields)
    else passOn(request, response, fields)
  }
  const passOn = (request: IncomingMessage, response: ServerResponse, fields: Fields): void => {
    for (const [name, value] of Object.entries(fields)) response.setHeader(name, value)
    limitPieces(request)
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

const addRoutes = (app: FastifyInstance, options: HttpOptions): void => {
  const { wsPaths, wsRedirect, health } = options
  addPages(app, options)
  for (const path of wsPaths)
    if (path !== '/')
      app.get(path, (_request, reply) =>
        reply
          .code(426)
          .headers({ upgrade: 'websocket', connection: 'Upgrade, close' })
          .send('this path speaks WebSocket: send an Upgrade header\n'),
      )
  if (wsRedirect !== null)
    app.all(wsRedirect, (_request, reply) =>
      reply
        .code(301)
        .header('location', wsPaths[0] ?? '/')
        .send(''),
    )
  app.get('/health', { exposeHeadRoute: true }, (_request, reply) => {
    const status = health()
    return reply
      .code(status.healthy ? 200 : 503)
      .header('content-type', JSON_TYPE)
      .send(JSON.stringify(status))
  })
  app.options('*', (_request, reply) => reply.code(204).header('allow', VERBS).send())
  app.setNotFoundHandler((request, reply) => {
    const known = ['/', ...wsPaths, '/health'].includes(pathOf(request.url))
    if (known) return reply.code(405).header('allow', VERBS).type('text/plain').send('method not allowed\n')
    return reply.code(404).type('text/plain').send('not found\n')
  })
}

/** A browser gets a page at `/`; load balancers and other clients get what they always got, an empty text. */
const addPages = (app: FastifyInstance, { pages }: HttpOptions): void => {
  app.get('/', { exposeHeadRoute: true }, async ({ headers }, reply) => {
    if (pages === undefined) return reply.send('')
    reply.header('vary', 'accept')
    if (!wantsPage(headers.accept)) return reply.send('')
    const acceptEncoding = encodingOf(headers)
    return sendResponse(reply, await pages.front({ host: headers.host, acceptEncoding }))
  })
  if (pages === undefined) return
  app.get(`${ASSETS_PATH}/*`, async ({ url, headers }, reply) => {
    const asset = await pages.asset(pathOf(url), encodingOf(headers))
    return asset === undefined ? reply.callNotFound() : sendResponse(reply, asset)
  })
}

const encodingOf = (headers: IncomingMessage['headers']): string | undefined => {
  const accepted = headers['accept-encoding']
  return typeof accepted === 'string' ? accepted : undefined
}

const sendResponse = (reply: FastifyReply, { status, headers, body }: WebResponse): FastifyReply =>
  reply.code(status).headers(headers).send(body)

const pathOf = (url: string): string => {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}
