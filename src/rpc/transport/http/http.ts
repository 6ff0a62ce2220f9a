import { type IncomingMessage, type OutgoingHttpHeaders, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { Cancellation } from '../../../util/async/cancellation.ts'
import { sliceOver } from '../../../util/async/time-slice.ts'
import type { Meter } from '../../../util/client-budget.ts'
import { ASSETS_PATH, acceptsGzip, wantsPage } from '../../../web/negotiation.ts'
import type { WebResponse } from '../../../web/response.ts'
import type { HealthStatus } from '../../ports.ts'
import type { Endpoint } from '../../router/method.ts'
import type { ResponseStream, RpcResponse } from '../../router/response.ts'
import { type AccessRules, corsFields, hostAllowed, originAllowed, VERBS } from '../clients/access.ts'
import type { Budgets } from '../clients/budgets.ts'
import { clientIdOf, endpointForClient } from '../clients/client-id.ts'
import { type Clients, chargeOf, clientRefusal } from '../clients/clients.ts'
import type { RequestGate } from '../request-gate.ts'
import { writeStream } from '../stream-writer.ts'
import { HttpFailure, type RequestBody, readAway, readBody } from './read-body.ts'

export interface HttpOptions extends AccessRules {
  readonly gate: RequestGate
  readonly endpoint: Endpoint
  readonly wsPaths: readonly string[]
  /** Redirected by 301 to the first of `wsPaths`; null on most networks. */
  readonly wsRedirect: string | null
  /** Certificate and key; undefined: not encrypted. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined
  readonly compression: boolean
  readonly clients: Clients
  readonly budgets: Pick<Budgets, 'bodies' | 'answers'>
  readonly health: () => HealthStatus
  /** Omitted: `GET /` answers an empty text to everybody. */
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

const JSON_TYPES = ['application/json', 'application/json-rpc', 'application/jsonrequest']
const JSON_TYPE = 'application/json'
const WRONG_TYPE = 'invalid content type, only application/json is supported\n'
/** Shorter answers fit a packet. */
const LEAST_COMPRESSED = 1_024
const compress = promisify(gzip)

/** Routes of this port declare no schema; this avoids loading fastify's compilers at every start. */
const noSchemas = (): never => {
  throw new Error('a route with a schema needs schema compilers')
}

/**
 * HTTP transport: POST for calls, GET for load balancers, clear statuses for everything else (docs/design/rpc.md#transport).
 */
export const createHttp = (options: HttpOptions): FastifyInstance => {
  const { tls } = options
  const app = fastify({
    ...(tls && { https: tls }),
    bodyLimit: RPC_LIMITS.bodyBytes,
    requestTimeout: RPC_LIMITS.httpRequestMs,
    keepAliveTimeout: RPC_LIMITS.httpKeepAliveMs,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    http: { shouldUpgradeCallback: request => request.headers.upgrade?.toLowerCase() === 'websocket' },
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(JSON_TYPES, (request: FastifyRequest, payload: IncomingMessage) =>
    readBody(payload, options.budgets.bodies.meter(options.clients.of(request.raw).id)),
  )
  // A body that no handler took, such as that of a path that is not served.
  app.addHook('onResponse', ({ body }, _reply, done) => {
    ;(body as RequestBody | undefined)?.releaseUntaken?.()
    done()
  })
  app.setErrorHandler((error: Failure, request, reply) => refuse(error, request, reply))
  addGuards(app, options)
  addRoutes(app, options)
  return app
}

const addRoutes = (app: FastifyInstance, options: HttpOptions): void => {
  const { wsPaths, wsRedirect, health } = options
  const paths = [...new Set(['/', ...wsPaths])]
  for (const path of paths) app.post(path, (request, reply) => post(request, reply, options))
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
    const known = [...paths, '/health'].includes(pathOf(request.url))
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

const post = (
  request: FastifyRequest,
  reply: FastifyReply,
  { gate, endpoint, clients, budgets, compression }: HttpOptions,
): FastifyReply | Promise<FastifyReply> => {
  // Without a body fastify calls no parser and does not check the content type.
  const requestBody = request.body as RequestBody | undefined
  if (requestBody === undefined) return reply.code(415).type('text/plain').send(WRONG_TYPE)
  requestBody.take()
  const identity = clients.of(request.raw)
  const answering = endpointForClient(endpoint, identity.id, cancellationOf(request.raw.socket))
  const answer = gate.handle(requestBody.bytes, answering, chargeOf(identity))
  const meter = budgets.answers.meter(answering.context.client)
  reply.header('content-type', JSON_TYPE)
  const compressed = compression && acceptsGzip(encodingOf(request.headers))
  const { client } = answering.context
  const sending = { client, meter, compressed }
  if (answer instanceof Promise) return sendInTime(answer.finally(requestBody.release), reply, sending)
  requestBody.release()
  return send(answer, reply, sending)
}

const pathOf = (url: string): string => {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

/** Checks before the body is read; a check that cannot reject is not installed, to keep it off every request. */
const addGuards = (app: FastifyInstance, { hosts, cors, checkOrigin, clients }: HttpOptions): void => {
  app.addHook('onRequest', (request, _reply, done) => {
    const turn = sliceOver(clientIdOf(clients.addressOf(request.raw)))
    if (turn === undefined) done()
    else void turn.then(() => done())
  })
  if (!hosts.includes('*'))
    app.addHook('onRequest', (request, reply, done) => {
      if (hostAllowed(hosts, request.headers.host)) done()
      else reply.code(403).type('text/plain').send('invalid host specified\n')
    })
  if (checkOrigin)
    app.addHook('onRequest', (request, reply, done) => {
      if (originAllowed(cors, request.headers.origin)) done()
      else reply.code(403).type('text/plain').send('invalid origin specified\n')
    })
  // Before the refusals of clients: a page reads those too.
  if (cors.length > 0)
    app.addHook('onRequest', ({ headers, method }, reply, done) => {
      reply.headers(corsFields(cors, headers.origin, method === 'OPTIONS'))
      done()
    })
  if (!clients.isByConnection)
    app.addHook('onRequest', async (request, reply) => {
      // For limits of other routes on this port.
      Object.defineProperty(request, 'ip', { value: clients.addressOf(request.raw) })
      if (request.method !== 'POST') return
      const refusal = clientRefusal(await clients.identify(request.raw))
      if (refusal === undefined) return undefined
      return reply.code(refusal.status).headers(refusal.headers).type('text/plain').send(refusal.text)
    })
}

interface Sending {
  readonly client: string
  /** Of the bytes that the client has not read. */
  readonly meter: Meter
  readonly compressed: boolean
}

const send = (
  rpcResponse: RpcResponse,
  reply: FastifyReply,
  { client, meter, compressed }: Sending,
): FastifyReply | Promise<FastifyReply> => {
  if (typeof rpcResponse !== 'string') return sendStream(rpcResponse, reply, { client, meter })
  if (!compressed || rpcResponse.length < LEAST_COMPRESSED) return reply.send(rpcResponse)
  // In a thread, at the level that costs least.
  return compress(rpcResponse, { level: 1 }).then(bytes =>
    reply
      .headers({
        'content-encoding': 'gzip',
        vary: [reply.getHeader('vary') ?? [], 'accept-encoding'].flat().join(', '),
      })
      .send(bytes),
  )
}

const cancellations = new WeakMap<Socket, Cancellation>()

/** Cancellation of a connection: cancelled when it closes. */
export const cancellationOf = (socket: Socket): Cancellation => {
  const known = cancellations.get(socket)
  if (known !== undefined) return known
  const cancellation = new Cancellation()
  cancellations.set(socket, cancellation)
  // A connection that is already closed emits no event.
  if (socket.destroyed) cancellation.cancel()
  else socket.once('close', () => cancellation.cancel())
  return cancellation
}

/** From here on the response bypasses fastify and is written at the client's pace. */
const sendStream = (
  answer: ResponseStream,
  reply: FastifyReply,
  options: Pick<Sending, 'client' | 'meter'>,
): FastifyReply => {
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders)
  raw.flushHeaders()
  writeStream(answer, raw, options).then(
    isWhole => isWhole && raw.end(),
    () => raw.destroy(),
  )
  return reply
}

const sendInTime = async (
  answer: Promise<RpcResponse>,
  reply: FastifyReply,
  sending: Sending,
): Promise<FastifyReply> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(resolve, RPC_LIMITS.httpRequestMs, undefined)
  })
  const made = await Promise.race([answer, late])
  clearTimeout(timer)
  if (made !== undefined) return send(made, reply, sending)
  void answer.then(unread => typeof unread !== 'string' && unread.cancel())
  // Closing the connection ends its remaining work.
  return reply.code(503).header('connection', 'close').type('text/plain').send('timeout')
}

interface Failure {
  readonly statusCode?: number
  readonly code?: string
}

const refuse = (error: Failure, request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply> => {
  reply.type('text/plain')
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return reply.code(415).send(WRONG_TYPE)
  const status = error.statusCode ?? 500
  if (!(error instanceof HttpFailure)) return reply.code(status).send(`${STATUS_CODES[status] ?? 'error'}\n`)
  if (status === 503) reply.header('retry-after', '1')
  return readAway(request.raw).then(() => reply.code(status).send(`${error.message}\n`))
}
