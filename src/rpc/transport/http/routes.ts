import { STATUS_CODES } from 'node:http'
import type { Hex } from '@tandem/base/bytes.ts'
import { ClientBudget } from '@tandem/base/client-budget.ts'
import { ASSETS_PATH, wantsPage } from '@tandem/web/negotiation.ts'
import type { WebResponse } from '@tandem/web/response.ts'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import type { HealthStatus, MiningPort } from '../../ports.ts'
import { VERBS } from '../clients/access.ts'
import { type Clients, clientIdOf } from '../clients/clients.ts'
import { cancellationOf, JSON_TYPE, pathOfUrl } from './calls.ts'

/** Options of what a port serves beside calls. */
export interface RouteOptions {
  readonly wsPaths: readonly string[]
  /** Redirected by 301 to the first of `wsPaths`; null on most networks. */
  readonly wsRedirect: string | null
  readonly clients: Clients
  readonly health: () => HealthStatus
  /** Omitted: the port serves no work. */
  readonly mining: MiningPort | undefined
  /** Adds routes of other parts. */
  readonly routes: (app: FastifyInstance) => Promise<void>
  /** Omitted: `GET /` returns an empty text to everybody. */
  readonly pages?: NodePages | undefined
}

/** Pages for browsers on the port of JSON-RPC. */
export interface NodePages {
  /** The node's own page. */
  front(request: Readonly<Record<'host' | 'acceptEncoding', string | undefined>>): Promise<WebResponse>
  /** A style sheet or script of a page; undefined: there is none at the path. */
  asset(path: string, acceptEncoding: string | undefined): Promise<WebResponse | undefined>
}

/** Routes of this port declare no schema; this avoids loading fastify's compilers at every start. */
const noSchemas = (): never => {
  throw new Error('a route with a schema needs schema compilers')
}

/** Creates the routes of the requests that are no calls; they listen to nothing. */
export const createRoutes = async (options: RouteOptions): Promise<FastifyInstance> => {
  const app = fastify({
    bodyLimit: RPC_LIMITS.bodyBytes,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  })
  app.removeAllContentTypeParsers()
  // Routes that take a body bring their parsers; of another body Node.js drops what it has not read.
  app.addContentTypeParser(JSON_TYPE, (_request, _payload, done) => done(null))
  app.setErrorHandler(({ statusCode = 500 }: { readonly statusCode?: number }, _request, reply) =>
    sendText(reply, statusCode, STATUS_CODES[statusCode] ?? 'error'),
  )
  // For limits of other routes on this port.
  if (!options.clients.isByConnection)
    app.addHook('onRequest', (request, _reply, done) => {
      Object.defineProperty(request, 'ip', { value: options.clients.addressOf(request.raw) })
      done()
    })
  addRoutes(app, options)
  if (options.mining !== undefined) addWorkRoute(app, options.mining)
  await options.routes(app)
  await app.ready()
  return app
}

const addRoutes = (app: FastifyInstance, options: RouteOptions): void => {
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
    const known = ['/', ...wsPaths, '/health'].includes(pathOfUrl(request.url))
    return known ? sendText(reply.header('allow', VERBS), 405, 'method not allowed') : sendText(reply, 404, 'not found')
  })
}

/** A browser gets a page at `/`; load balancers and other clients get what they always got, an empty text. */
const addPages = (app: FastifyInstance, { pages }: RouteOptions): void => {
  app.get('/', { exposeHeadRoute: true }, async ({ headers }, reply) => {
    if (pages === undefined) return reply.send('')
    reply.header('vary', 'accept')
    if (!wantsPage(headers.accept)) return reply.send('')
    const acceptEncoding = headers['accept-encoding']
    return sendResponse(reply, await pages.front({ host: headers.host, acceptEncoding }))
  })
  if (pages === undefined) return
  app.get(`${ASSETS_PATH}/*`, async ({ url, headers }, reply) => {
    const asset = await pages.asset(pathOfUrl(url), headers['accept-encoding'])
    return asset === undefined ? reply.callNotFound() : sendResponse(reply, asset)
  })
}

const sendText = (reply: FastifyReply, code: number, text: string): FastifyReply =>
  reply.code(code).type('text/plain').send(`${text}\n`)

const sendResponse = (reply: FastifyReply, { status, headers, body }: WebResponse): FastifyReply =>
  reply.code(status).headers(headers).send(body)

type Work = NonNullable<ReturnType<MiningPort['work']>>

/** `GET /work`: native_getWork. With `longpollid`, the miner's seal hash, it waits for other work, half a minute at most. */
export const addWorkRoute = (app: FastifyInstance, mining: Pick<MiningPort, 'work' | 'onWork'>): void => {
  const places = new ClientBudget(RPC_LIMITS.workPolls)
  app.get('/work', async (request: FastifyRequest, reply: FastifyReply) => {
    const query = request.query as Readonly<Record<string, unknown>>
    const { coinbase, longpollid } = query
    if (coinbase !== undefined && !isAddress(coinbase)) return sendText(reply, 400, 'coinbase is 0x and 40 hex digits')
    const payee = coinbase?.toLowerCase() as Hex | undefined
    const fresh = () => {
      const work = mining.work(payee)
      return work?.[0] === longpollid ? undefined : work
    }
    const now = fresh()
    if (now !== undefined) return answer(reply, now)
    if (longpollid === undefined) return sendText(reply, 503, NO_WORK)
    const place = places.meter(clientIdOf(request.ip))
    if (!place.hold(1)) return sendText(reply, 503, 'too many miners wait: poll native_getWork')
    const work = await nextWork(mining, fresh, request).finally(() => place.hold(0))
    const known = work ?? mining.work(payee)
    return known === undefined ? sendText(reply, 503, NO_WORK) : answer(reply, known)
  })
}

const NO_WORK = 'no mining work available yet'

const isAddress = (value: unknown): value is string => typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)

const answer = (reply: FastifyReply, work: Work): FastifyReply =>
  reply.header('content-type', 'application/json').send(JSON.stringify(work))

/** Resolves to undefined when the time is over or the miner has gone. */
const nextWork = async (
  mining: Pick<MiningPort, 'onWork'>,
  fresh: () => Work | undefined,
  { raw }: FastifyRequest,
): Promise<Work | undefined> => {
  const { promise, resolve } = Promise.withResolvers<Work | undefined>()
  const timer = setTimeout(resolve, RPC_LIMITS.workPollMs, undefined)
  const stop = mining.onWork(() => {
    const work = fresh()
    if (work !== undefined) resolve(work)
  })
  // One listener of the socket for all of its polls.
  const forget = cancellationOf(raw.socket).onCancel(() => resolve(undefined))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    stop()
    forget()
  }
}
