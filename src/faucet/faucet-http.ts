import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { RateLimiter } from '@tandem/base/rate-limiter.ts'
import { parseJsonObject } from '@tandem/base/text.ts'
import { wantsPage } from '@tandem/web/negotiation.ts'
import { type PageServer, startPageServer } from '@tandem/web/page-server.ts'
import { pageResponse } from '@tandem/web/response.ts'
import { isSameOrigin } from '@tandem/web/same-origin.ts'
import { FAUCET_PATH, type Site } from '@tandem/web/site.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { FAUCET_LIMITS } from '../config/limits/faucet.ts'
import { formPage, grantPage, noGrantPage } from './faucet-pages.ts'
import { type FaucetService, type GrantAnswer, isRefusal } from './faucet-service.ts'
import { answerTo, eligibleAtMs, type FaucetRefusal } from './grant-rule.ts'
import type { WorkSolution } from './proof-of-work.ts'

interface FaucetServerOptions extends FaucetHttpOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
}

/** Serves the faucet on a port of its own. Rejects when the port is taken. */
export const startFaucetServer = ({ host, port, ...options }: FaucetServerOptions): Promise<PageServer> =>
  startPageServer({ ...FAUCET_LIMITS.http, host, port, home: FAUCET_PATH, health: () => ({ healthy: true }) }, app =>
    addFaucetRoutes(app, options),
  )

/** Fields of a request, of which nothing is checked yet. */
interface FaucetFields {
  readonly address: unknown
  readonly work: WorkSolution | undefined
}

const workFrom = (challenge: unknown, at: unknown, nonce: unknown): WorkSolution | undefined =>
  typeof challenge === 'string' && typeof nonce === 'string' && nonce !== ''
    ? { challenge, atMs: typeof at === 'number' ? at : Number(at), nonce }
    : undefined

const fieldsOfForm = (body: string): FaucetFields => {
  const form = new URLSearchParams(body)
  return { address: form.get('address'), work: workFrom(form.get('challenge'), form.get('at'), form.get('nonce')) }
}

/** Fields of a JSON object; undefined: the text is none. */
const fieldsOfJson = (body: string): FaucetFields | undefined => {
  const parsed = parseJsonObject(body)
  if (parsed === undefined) return undefined
  const { address, work } = parsed
  const { challenge, atMs, nonce } = (typeof work === 'object' && work !== null ? work : {}) as Record<string, unknown>
  return { address, work: workFrom(challenge, atMs, nonce) }
}

interface FaucetHttpOptions {
  /** Resolves with the running faucet; rejects while it cannot be opened. */
  readonly open: () => Promise<FaucetService>
  readonly site: Site
  /** Client of a request, as limits count it. */
  readonly clientOf: (request: FastifyRequest) => string
  readonly clock: Pick<Clock, 'nowMs'>
}

const FORM = 'application/x-www-form-urlencoded'
const GRANTS = `${FAUCET_PATH}/grants/`
const AMOUNT = FAUCET_LIMITS.grantWei.toString()

/** Serves the form, its results for people and scripts, and the page of each grant. */
export const addFaucetRoutes = (app: FastifyInstance, options: FaucetHttpOptions): void => {
  const quota = new RateLimiter(FAUCET_LIMITS.http.quota, FAUCET_LIMITS.http.clients)
  void app.register(async scope => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(['application/json', FORM], { parseAs: 'string' }, (_request, body, done) =>
      done(null, body),
    )
    scope.setErrorHandler((error: { readonly statusCode?: number }, _request, reply) => {
      const status = error.statusCode ?? 500
      if (status === 413) return sendText(reply, 413, 'the request is too large')
      if (status === 415) return sendText(reply, 415, `send application/json or ${FORM}`)
      return sendText(reply, status, status < 500 ? 'the request cannot be read' : 'the faucet failed')
    })
    scope.addHook('onRequest', (request, reply, done) => {
      if (quota.take(options.clientOf(request), options.clock.nowMs())) done()
      else void sendText(reply.header('retry-after', '1'), 429, 'too many requests')
    })
    const bodyLimit = FAUCET_LIMITS.http.bodyBytes
    scope.get(FAUCET_PATH, (request, reply) => showForm(request, reply, options))
    scope.get(`${GRANTS}:address`, (request, reply) => showGrant(request, reply, options))
    scope.post(FAUCET_PATH, { bodyLimit }, (request, reply) => post(request, reply, options))
    scope.route({
      method: ['PUT', 'PATCH', 'DELETE'],
      url: FAUCET_PATH,
      handler: (_request, reply) => sendText(reply.header('allow', 'GET, POST'), 405, 'method not allowed'),
    })
  })
}

const sendText = (reply: FastifyReply, status: number, text: string): FastifyReply =>
  reply.code(status).headers({ 'cache-control': 'no-store' }).type('text/plain').send(`${text}\n`)

const sendJson = (reply: FastifyReply, status: number, body: object): FastifyReply =>
  reply
    .code(status)
    .headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', vary: 'accept' })
    .type('application/json')
    .send(JSON.stringify(body))

const sendPage = (request: FastifyRequest, reply: FastifyReply, status: number, page: string): FastifyReply => {
  const acceptEncoding = request.headers['accept-encoding']
  const response = pageResponse(page, { status, acceptEncoding, cacheControl: 'no-store' })
  return reply
    .code(status)
    .headers({ ...response.headers, vary: 'accept, accept-encoding' })
    .send(response.body)
}

/** Scripts say what they take or send; anything else is a form of a browser. */
const wantsJson = ({ headers }: FastifyRequest): boolean => {
  const isJson = headers['content-type']?.startsWith('application/json') ?? false
  return (isJson || (headers.accept?.includes('application/json') ?? false)) && !wantsPage(headers.accept)
}

const opened = async (request: FastifyRequest, reply: FastifyReply, { open }: FaucetHttpOptions) => {
  try {
    return await open()
  } catch (error) {
    request.log.debug({ err: error }, 'the faucet cannot be opened')
    reply.header('retry-after', '2')
    await sendText(reply, 503, 'the faucet is not ready: its node or its store cannot be used')
    return undefined
  }
}

const showForm = async (request: FastifyRequest, reply: FastifyReply, options: FaucetHttpOptions) => {
  const faucet = await opened(request, reply, options)
  if (faucet === undefined) return reply
  const { site } = options
  if (wantsJson(request))
    return sendJson(reply, 200, { amount: AMOUNT, symbol: site.symbol, faucet: faucet.address, work: faucet.puzzle() })
  return sendPage(request, reply, 200, formPage({ site, address: faucet.address }))
}

const showGrant = async (request: FastifyRequest, reply: FastifyReply, options: FaucetHttpOptions) => {
  // Wallets and explorers write addresses in both cases.
  const address = (request.params as { readonly address: string }).address.toLowerCase()
  const faucet = await opened(request, reply, options)
  if (faucet === undefined) return reply
  const grant = /^0x[0-9a-f]{40}$/.test(address) ? faucet.grant(address as Hex) : undefined
  if (grant === undefined) return sendNoGrant(request, reply, options)
  const nextMs = eligibleAtMs(grant.reservedAtMs)
  if (wantsJson(request)) return sendJson(reply, 200, { ...grantJson({ ...grant, nextMs }), state: grant.state })
  return sendPage(request, reply, 200, grantPage(options.site, grant, { nextMs, nowMs: options.clock.nowMs() }))
}

const sendNoGrant = (request: FastifyRequest, reply: FastifyReply, { site }: FaucetHttpOptions): FastifyReply => {
  const message = 'the faucet gave nothing to this address'
  if (wantsJson(request)) return sendJson(reply, 404, { error: { code: 'NOT_FOUND', message, field: 'address' } })
  return wantsPage(request.headers.accept)
    ? sendPage(request, reply, 404, noGrantPage(site))
    : sendText(reply, 404, message)
}

const grantJson = ({ address, hash, nextMs }: GrantAnswer) => ({
  txHash: hash ?? null,
  amount: AMOUNT,
  address,
  nextEligibleAt: new Date(nextMs).toISOString(),
})

const post = async (request: FastifyRequest, reply: FastifyReply, options: FaucetHttpOptions) => {
  if (!isSameOrigin(request.headers)) return sendText(reply, 403, 'requests of other web sites are not taken')
  const body = typeof request.body === 'string' ? request.body : ''
  const isForm = request.headers['content-type']?.startsWith(FORM) ?? false
  const fields = isForm ? fieldsOfForm(body) : fieldsOfJson(body)
  if (fields === undefined) return sendText(reply, 400, 'the body is no JSON object: send {"address":"0x..."}')
  const faucet = await opened(request, reply, options)
  if (faucet === undefined) return reply
  try {
    const answer = await faucet.request({ ...fields, client: options.clientOf(request) })
    // 202: reserved for sure, and sent as soon as the node takes it.
    if (wantsJson(request)) return sendJson(reply, answer.hash === undefined ? 202 : 200, grantJson(answer))
    return reply
      .code(303)
      .headers({ location: GRANTS + answer.address, 'cache-control': 'no-store' })
      .send('')
  } catch (error) {
    if (!isRefusal(error)) throw error
    return refuse(request, reply, { ...options, faucet, fields, detail: error.detail })
  }
}

interface Refused extends FaucetHttpOptions {
  readonly faucet: FaucetService
  readonly fields: FaucetFields
  readonly detail: FaucetRefusal
}

const refuse = (request: FastifyRequest, reply: FastifyReply, refused: Refused): FastifyReply => {
  const { faucet, fields, detail, site, clock } = refused
  const nowMs = clock.nowMs()
  const { status, message, field, untilMs } = answerTo(detail, nowMs)
  if (untilMs !== undefined) reply.header('retry-after', String(Math.max(1, Math.ceil((untilMs - nowMs) / 1_000))))
  else if (status === 503) reply.header('retry-after', '30')
  if (wantsJson(request))
    return sendJson(reply, status, {
      error: { code: detail.code, message, field },
      ...(untilMs !== undefined && { nextEligibleAt: new Date(untilMs).toISOString() }),
    })
  const input = typeof fields.address === 'string' ? fields.address : ''
  const problem = { text: message, input, isField: field !== null }
  return sendPage(request, reply, status, formPage({ site, address: faucet.address, problem }))
}
