import { randomUUID } from 'node:crypto'
import { ClientBudget } from '@tandem/base/client-budget.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isModuleCall, moduleError } from '../api/modules/module-answer.ts'
import { CLIENT_HEADER } from '../api/submissions.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import type { ExplorerService } from './explorer-service.ts'
import type { ApiAnswer } from './protocol.ts'
import type { RequestAllowance, RequestLimiter } from './request-limiter.ts'
import type { UnreadAnswers } from './unread-answers.ts'

export interface ExplorerHttpOptions {
  readonly service: Pick<ExplorerService, 'request'>
  readonly limiter: RequestLimiter
  readonly unread: UnreadAnswers
  /** Client of a request, as limits count it. */
  readonly clientOf: (request: FastifyRequest) => string
}

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'etag, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, x-indexed-block',
}
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
  'access-control-allow-headers': 'content-type, x-api-key, if-none-match',
  'access-control-max-age': '86400',
}

/** Paths of the API, and whether source code is submitted there. */
const PATHS = [
  ['/api', true],
  ['/api/contracts/*', true],
  ['/api/v2/verify/*', true],
  ['/api/*', false],
] as const

/** Request headers that the API reads. */
const PASSED = ['content-type', 'if-none-match'] as const

/** Serves /api on the node's port: counts requests, bounds them, and passes them on. */
export const addExplorerRoutes = (app: FastifyInstance, options: ExplorerHttpOptions): void => {
  void app.register(async scope => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    scope.setErrorHandler((error: { readonly statusCode?: number }, _request, reply) => {
      const status = error.statusCode ?? 500
      // Closed with bytes of the body unread, the connection would take the response with it.
      reply.removeHeader('connection')
      if (status === 413) return refuse(reply, 413, 'PAYLOAD_TOO_LARGE', 'the body is too large')
      return refuse(reply, status, status < 500 ? 'INVALID_PARAMETER' : 'INTERNAL', 'the request cannot be read')
    })
    for (const [url, isSubmitted] of PATHS)
      scope.route({
        method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
        url,
        bodyLimit: (isSubmitted ? EXPLORER_LIMITS.verification : EXPLORER_LIMITS.api).bodyBytes,
        onRequest: (request, reply, done) => admit(request, reply, options, done),
        handler: (request, reply) =>
          passOn(request, reply, options, PASSED, ({ status, text }) =>
            refuse(reply, status, status === 429 ? 'RATE_LIMITED' : 'INDEX_NOT_READY', text),
          ),
      })
  })
}

const admit = (request: FastifyRequest, reply: FastifyReply, options: ExplorerHttpOptions, done: () => void): void => {
  reply.headers(CORS)
  if (request.method === 'OPTIONS') {
    void reply.code(204).headers(PREFLIGHT).header('allow', PREFLIGHT['access-control-allow-methods']).send()
    return
  }
  const allowance = countRequest(request, reply, options)
  if (!allowance.allowed) void refuse(reply, 429, 'RATE_LIMITED', 'Max rate limit reached')
  else if (request.url.length > EXPLORER_LIMITS.api.urlBytes) {
    void refuse(reply, 414, 'INVALID_PARAMETER', 'the address is too long')
  } else if (!hasRoomForBody(request, reply, options)) {
    reply.header('retry-after', '1')
    void refuse(reply, 503, 'INDEX_NOT_READY', 'too many submissions arrive; come again')
  } else done()
}

/** Counts a request of a client, and tells it so. */
export const countRequest = (
  request: FastifyRequest,
  reply: FastifyReply,
  { limiter, clientOf }: ExplorerHttpOptions,
): RequestAllowance => {
  const allowance = limiter.take(clientOf(request), keyOf(request))
  const values = { limit: allowance.limit, remaining: allowance.remaining, reset: allowance.resetSeconds }
  for (const [name, value] of Object.entries(values))
    reply.header(`ratelimit-${name}`, String(value)).header(`x-ratelimit-${name}`, String(value))
  if (!allowance.allowed) reply.header('retry-after', String(allowance.resetSeconds))
  return allowance
}

/** False: the request brings more than a usual body, or does not say how much, and this client has no place for that. */
export const hasRoomForBody = (
  request: FastifyRequest,
  reply: FastifyReply,
  { clientOf }: ExplorerHttpOptions,
): boolean => {
  const { 'transfer-encoding': encoding, 'content-length': length = 0 } = request.headers
  const isLarge = encoding !== undefined || Number(length) > EXPLORER_LIMITS.api.bodyBytes
  return !isLarge || takeLargeBody(reply, clientOf(request))
}

/** Large bodies that are being read or answered. */
const largeBodies = new ClientBudget(EXPLORER_LIMITS.verification.bodies)

/** Takes one of the few places for large bodies until the response is sent; false: there is none for this client. */
export const takeLargeBody = (reply: FastifyReply, client: string): boolean => {
  const place = largeBodies.meter(client)
  if (!place.hold(1)) return false
  reply.raw.once('close', () => place.hold(0))
  return true
}

/** API key of a request. */
const keyOf = (request: FastifyRequest): string | undefined => {
  const header = request.headers['x-api-key']
  if (typeof header === 'string') return header
  const { apikey } = request.query as { readonly apikey?: unknown }
  return typeof apikey === 'string' ? apikey : undefined
}

/** Refusal of a request that the explorer does not take now. */
export interface Busy {
  readonly status: 429 | 503
  readonly text: string
}

/**
 * Passes a request on to the reading thread, with these of its headers, and sends what it answers; where it takes too much, or that cannot
 * be now, what `refused` makes of the reason.
 */
export const passOn = async (
  request: FastifyRequest,
  reply: FastifyReply,
  { service, unread, clientOf }: ExplorerHttpOptions,
  passed: readonly string[],
  refused: (busy: Busy) => FastifyReply,
): Promise<FastifyReply> => {
  const client = clientOf(request)
  const headers: Record<string, string> = { [CLIENT_HEADER]: client }
  for (const name of passed) {
    const value = request.headers[name]
    if (typeof value === 'string') headers[name] = value
  }
  const sent = request.body as Buffer | undefined
  const body = sent === undefined || sent.byteLength === 0 ? undefined : new Uint8Array(sent)
  let answer: ApiAnswer
  try {
    answer = await service.request({ method: request.method, url: request.url, headers, body })
  } catch (error) {
    if (!isCoded(error)) throw error
    reply.header('retry-after', '1')
    if (error.code === 'CLIENT_BUSY') return refused({ status: 429, text: 'Too many of your requests wait' })
    return refused({ status: 503, text: 'The explorer is busy; come again' })
  }
  if (answer.status === 304) return withFields(reply, answer).send(null)
  if (unread.hasRoom(client, answer.body.byteLength))
    return unread.send(withFields(reply, answer), client, Buffer.from(answer.body.buffer))
  reply.header('retry-after', '1')
  return refused({ status: 429, text: 'Too many answers are not read yet' })
}

const withFields = (reply: FastifyReply, { status, headers }: ApiAnswer): FastifyReply => {
  for (const [name, value] of Object.entries(headers)) if (!OWN_HEADERS.has(name)) reply.header(name, value)
  return reply.code(status)
}

/** Responses that the connection's server writes itself. */
const OWN_HEADERS = new Set(['connection', 'keep-alive', 'date', 'content-length', 'transfer-encoding'])

const refuse = (reply: FastifyReply, status: number, code: string, message: string): FastifyReply =>
  reply
    .code(status)
    .headers({ ...CORS, 'cache-control': 'no-store' })
    .type('application/json')
    .send(
      isModuleCall(reply.request.url)
        ? moduleError(message)
        : JSON.stringify({ error: { code, message, field: null, requestId: randomUUID() } }),
    )
