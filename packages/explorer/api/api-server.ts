import { createHash, randomUUID } from 'node:crypto'
import { isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { EXPLORER_LIMITS } from '../limits.ts'
import { type ApiRefusal, invalidParameter } from './api-error.ts'
import { type ApiContext, type ApiRoute, StatusAnswer } from './api-route.ts'
import { API_ROUTES } from './api-routes.ts'
import { isModuleCall, moduleError } from './modules/module-answer.ts'
import { answerModule } from './modules/module-api.ts'
import { openApiDocument } from './openapi.ts'
import { Readiness } from './readiness.ts'
import { CLIENT_HEADER, isSubmission } from './submissions.ts'

interface ApiServerOptions {
  readonly context: ApiContext
  /** Omitted: one of its own. */
  readonly readiness?: Readiness
  readonly version: string
  readonly logger: Logger
}

/** Number of blocks behind the head from which an answer about a block counts as final for caches. */
const SETTLED_BLOCKS = 10

/** The REST API as fastify serves it; it is asked through `inject`, in the thread that reads the index. */
export const createApiServer = ({
  context,
  readiness = new Readiness(context),
  version,
  logger,
}: ApiServerOptions): FastifyInstance => {
  const app = fastify({
    // The node's port refuses what is too large for its path.
    bodyLimit: EXPLORER_LIMITS.verification.bodyBytes,
    genReqId: () => randomUUID(),
    ajv: { customOptions: { removeAdditional: false, coerceTypes: true, allErrors: false } },
  })
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(body as string))),
  )
  app.setErrorHandler((error: FastifyError, request, reply) => refuse(error, request, reply, logger))
  app.setNotFoundHandler((request, reply) => unknownRoute(request, reply))
  app.addHook('onSend', async (request, reply, payload) => finish(request, reply, payload, context))
  for (const route of API_ROUTES) addRoute(app, route, context, readiness)
  const document = JSON.stringify(openApiDocument(API_ROUTES, version))
  app.get('/api/openapi.json', async (_request, reply) => reply.type(JSON_TYPE).send(document))
  app.route({
    method: ['GET', 'POST'],
    url: '/api',
    handler: async (request, reply) => {
      const query = request.query as Readonly<Record<string, unknown>>
      const call = { query, body: request.body, client: clientOfRequest(request) }
      return reply.type(JSON_TYPE).send(await answerModule(context, call, readiness))
    },
  })
  return app
}

const JSON_TYPE = 'application/json; charset=utf-8'

const clientOfRequest = ({ headers }: FastifyRequest): string => {
  const client = headers[CLIENT_HEADER]
  return typeof client === 'string' ? client : ''
}

const addRoute = (app: FastifyInstance, route: ApiRoute, context: ApiContext, readiness: Readiness): void => {
  app.route({
    method: route.method ?? 'GET',
    url: route.path,
    schema: {
      ...(route.body && { body: route.body }),
      ...(route.params && {
        params: { type: 'object', properties: route.params, required: Object.keys(route.params) },
      }),
      ...(route.query && { querystring: { type: 'object', properties: route.query } }),
    },
    handler: async (request, reply) => {
      checkIntegers(route, request.query as Readonly<Record<string, unknown>>)
      if (route.needsIndex) await readiness.check()
      const body = await route.handler(context, {
        params: request.params as Readonly<Record<string, string>>,
        query: request.query as Readonly<Record<string, unknown>>,
        body: request.body,
        client: clientOfRequest(request),
      })
      if (body instanceof StatusAnswer)
        return reply
          .code(body.status)
          .header('cache-control', 'no-store')
          .type(JSON_TYPE)
          .send(JSON.stringify(body.body))
      reply.header('cache-control', route.method === 'POST' ? 'no-store' : await cacheControl(route, body, context))
      return reply
        .code(route.status ?? 200)
        .type(JSON_TYPE)
        .send(JSON.stringify(body))
    },
  })
}

/** Refuses infinite numbers: 1e309 is parsed as one, and no bound of a schema excludes it. Throws INVALID_PARAMETER. */
const checkIntegers = ({ query = {} }: ApiRoute, given: Readonly<Record<string, unknown>>): void => {
  for (const [name, { type }] of Object.entries(query))
    if (type === 'integer' && given[name] !== undefined && !Number.isSafeInteger(given[name]))
      throw invalidParameter(name, `${name}: a whole number`)
}

const HEAD_CACHE = 'public, max-age=1, stale-while-revalidate=5'

const cacheControl = async ({ caching }: ApiRoute, body: unknown, { source, rules }: ApiContext): Promise<string> => {
  if (caching !== 'block' || rules.isDevelopment) return HEAD_CACHE
  const { number } = body as { readonly number: number }
  const head = (await source.headNumber()) ?? 0
  return head - number >= SETTLED_BLOCKS ? 'public, max-age=31536000, immutable' : HEAD_CACHE
}

const finish = async (
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  { index }: ApiContext,
): Promise<unknown> => {
  const position = await index.position().catch(undefinedIfAway)
  if (position !== undefined) reply.header('x-indexed-block', String(position.number))
  reply.header('x-content-type-options', 'nosniff')
  if (reply.statusCode !== 200 || typeof payload !== 'string' || request.method === 'POST') return payload
  const etag = `"${createHash('sha256').update(payload).digest('base64url').slice(0, 27)}"`
  reply.header('etag', etag)
  if (!matches(request.headers['if-none-match'], etag)) return payload
  reply.code(304)
  return ''
}

const undefinedIfAway = (error: unknown): undefined => {
  if (!isCoded(error) || AWAY[error.code] === undefined) throw error
}

const matches = (wanted: string | undefined, etag: string): boolean =>
  wanted !== undefined && (wanted === '*' || wanted.split(',').some(item => item.trim().replace(/^W\//, '') === etag))

const send = (
  reply: FastifyReply,
  status: number,
  error: { readonly code: string; readonly message: string; readonly field?: string | null },
  requestId: string,
): FastifyReply =>
  reply
    .code(status)
    .header('cache-control', 'no-store')
    .type(JSON_TYPE)
    .send(
      isModuleCall(reply.request.url)
        ? moduleError(error.message)
        : JSON.stringify({
            error: { code: error.code, message: error.message, field: error.field ?? null, requestId },
          }),
    )

const STATUS_CODES: Readonly<Record<number, string>> = { 413: 'PAYLOAD_TOO_LARGE', 415: 'UNSUPPORTED_MEDIA_TYPE' }

/** Services that the explorer cannot reach now. */
const AWAY: Readonly<Record<string, { readonly code: string; readonly message: string }>> = {
  NODE_UNREACHABLE: { code: 'NODE_UNREACHABLE', message: 'the node does not answer; come again' },
  DATABASE_UNREACHABLE: { code: 'DATABASE_UNREACHABLE', message: 'the index cannot be read; come again' },
}

const refuse = (error: FastifyError, request: FastifyRequest, reply: FastifyReply, logger: Logger): FastifyReply => {
  const away = isCoded(error) ? AWAY[error.code] : undefined
  if (away !== undefined) {
    reply.header('retry-after', '1')
    return send(reply, 503, away, request.id)
  }
  if (isCoded(error) && isRefusal(error.detail)) return refuseCoded(error.detail, request, reply)
  if (error.validation !== undefined) {
    const [problem] = error.validation
    const field = problem?.instancePath.split('/')[1] ?? null
    const message = `${field ?? 'request'}: ${problem?.message ?? 'is not valid'}`
    return send(reply, 400, { code: 'INVALID_PARAMETER', message, field }, request.id)
  }
  const status = error.statusCode ?? 500
  if (status < 500)
    return send(
      reply,
      status,
      { code: STATUS_CODES[status] ?? 'INVALID_PARAMETER', message: 'the request cannot be read' },
      request.id,
    )
  logger.error(
    { err: error.stack ?? error.message, requestId: request.id, path: request.routeOptions.url },
    'an explorer request failed',
  )
  return send(reply, 500, { code: 'INTERNAL', message: 'the explorer failed; the log has the reason' }, request.id)
}

const isRefusal = (detail: { readonly code: string }): detail is ApiRefusal =>
  ['INVALID_PARAMETER', 'NOT_FOUND', 'INDEX_NOT_READY', 'NOT_TAKEN'].includes(detail.code)

const refuseCoded = (refusal: ApiRefusal, { id }: FastifyRequest, reply: FastifyReply): FastifyReply => {
  if (refusal.code === 'INVALID_PARAMETER') return send(reply, 400, refusal, id)
  if (refusal.code === 'NOT_FOUND') return send(reply, 404, refusal, id)
  if (refusal.code === 'NOT_TAKEN')
    return send(reply, refusal.status, { code: refusal.reason, message: refusal.message }, id)
  const lag = Number.isFinite(refusal.lag) ? refusal.lag : null
  reply.code(503).header('cache-control', 'no-store').header('retry-after', '1').type(JSON_TYPE)
  const message = 'the index is being filled; come again'
  if (isModuleCall(reply.request.url)) return reply.send(moduleError(message))
  return reply.send(JSON.stringify({ error: { code: refusal.code, message, field: null, requestId: id, lag } }))
}

/** Paths of the routes by segment, for telling a wrong method from a wrong path. */
const KNOWN_PATHS: readonly (readonly string[])[] = [
  '/api',
  '/api/openapi.json',
  ...API_ROUTES.map(({ path }) => path),
].map(path => path.split('/'))

const isKnownPath = (path: string): boolean => {
  const segments = (path.endsWith('/') ? path.slice(0, -1) : path).split('/')
  return KNOWN_PATHS.some(
    known =>
      known.length === segments.length &&
      known.every((want, index) => (want.startsWith(':') ? segments[index] !== '' : segments[index] === want)),
  )
}

const unknownRoute = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const path = request.url.split('?')[0] as string
  if (!isKnownPath(path))
    return send(reply, 404, { code: 'NOT_FOUND', message: 'there is no such path; see /api/openapi.json' }, request.id)
  reply.header('allow', isSubmission(path) ? 'GET, HEAD, POST, OPTIONS' : 'GET, HEAD, OPTIONS')
  return send(reply, 405, { code: 'METHOD_NOT_ALLOWED', message: 'the path answers GET' }, request.id)
}
