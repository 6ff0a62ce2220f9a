import { assert } from '@tandem/base/assert.ts'
import { type CodedError, isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { WebResponse } from '@tandem/web/response.ts'
import { fileResponse, pageResponse } from '@tandem/web/response.ts'
import { renderPage } from '@tandem/web/shell.ts'
import { EXPLORER_PATH } from '@tandem/web/site.ts'
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import type { ApiRefusal } from '../api/api-error.ts'
import type { Readiness } from '../api/readiness.ts'
import { CLIENT_HEADER } from '../api/submissions.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import { errorPage } from './error-page.ts'
import {
  type ExplorerPageRequest,
  LIVE_PARTS_PATH,
  type PageContext,
  type PageRoute,
  type PageSubmission,
} from './page-route.ts'
import { PAGE_ROUTES } from './page-routes.ts'
import { liveParts } from './routes/home.ts'

interface PageServerOptions {
  readonly context: PageContext
  readonly readiness: Readiness
  readonly logger: Logger
}

const CACHE = 'public, max-age=1'
const NO_CACHE = 'no-store'

/** The pages of the explorer as fastify serves them; it is asked through `inject`, in the thread that reads the index. */
export const createPageServer = (options: PageServerOptions): FastifyInstance => {
  const { context, readiness } = options
  // The node's port refuses what is too large for its path.
  const app = fastify({ bodyLimit: EXPLORER_LIMITS.verification.bodyBytes })
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, new URLSearchParams(body as string)),
  )
  app.setErrorHandler((error: FastifyError, request, reply) => refusePage(error, request, reply, options))
  app.setNotFoundHandler((request, reply) =>
    sendError(request, reply, context, { status: 404, text: 'The explorer has no such page.' }),
  )
  for (const route of PAGE_ROUTES) {
    app.get(EXPLORER_PATH + route.path, (request, reply) => answerPage(route, request, reply, options))
    if (route.submit !== undefined)
      app.post(EXPLORER_PATH + route.path, (request, reply) => answerPage(route, request, reply, options))
  }
  app.get(LIVE_PARTS_PATH, async (_request, reply) => {
    await readiness.check()
    const parts = Object.entries(await liveParts(context)).map(([name, part]) => [name, part.toString()])
    return reply
      .header('cache-control', NO_CACHE)
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(Object.fromEntries(parts)))
  })
  return app
}

const answerPage = async (
  route: PageRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  { context, readiness }: PageServerOptions,
): Promise<FastifyReply> => {
  if (route.needsIndex) await readiness.check()
  const asked = requestOf(request)
  const isPost = request.method === 'POST'
  const content = await (isPost ? route.submit?.(context, submissionOf(request)) : route.render(context, asked))
  assert(content !== undefined, 'only pages with a form are posted to')
  if ('location' in content)
    return reply
      .code(isPost ? 303 : 302)
      .header('cache-control', NO_CACHE)
      .header('location', content.location)
      .send()
  if ('file' in content)
    return send(reply, fileResponse(content.text, { ...content, acceptEncoding: request.headers['accept-encoding'] }))
  const { title, body, status = 200, search } = content
  const page = renderPage({
    site: context.site,
    title,
    path: asked.path,
    body,
    ...(search !== undefined && { search }),
  })
  const cacheControl = isPost ? NO_CACHE : CACHE
  return send(reply, pageResponse(page, { status, acceptEncoding: request.headers['accept-encoding'], cacheControl }))
}

const submissionOf = ({ body, headers }: FastifyRequest): PageSubmission => {
  const client = headers[CLIENT_HEADER]
  return {
    form: body instanceof URLSearchParams ? body : new URLSearchParams(),
    client: typeof client === 'string' ? client : '',
  }
}

/** A parameter that is given twice counts as its first value. */
const requestOf = ({ url, params, query }: FastifyRequest): ExplorerPageRequest => {
  const texts = Object.entries(query as Readonly<Record<string, unknown>>).flatMap(([name, value]) => {
    const first = Array.isArray(value) ? value[0] : value
    return typeof first === 'string' ? [[name, first] as const] : []
  })
  const [path = ''] = url.split('?')
  return {
    path: path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path,
    params: params as Readonly<Record<string, string>>,
    query: Object.fromEntries(texts),
  }
}

const send = (reply: FastifyReply, { status, headers, body }: WebResponse): FastifyReply =>
  reply.code(status).headers(headers).send(body)

const sendError = (
  request: FastifyRequest,
  reply: FastifyReply,
  { site }: PageContext,
  { status, text, reloads = false }: { readonly status: number; readonly text: string; readonly reloads?: boolean },
): FastifyReply => {
  const { path } = requestOf(request)
  const page = errorPage(site, { status, text, path, reloads })
  if (reloads) reply.header('retry-after', '1')
  return send(
    reply,
    pageResponse(page, { status, acceptEncoding: request.headers['accept-encoding'], cacheControl: NO_CACHE }),
  )
}

const refusePage = (
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
  { context, logger }: PageServerOptions,
): FastifyReply => {
  if (isCoded(error)) {
    const { detail } = error as unknown as CodedError<ApiRefusal>
    if (detail.code === 'INVALID_PARAMETER')
      return sendError(request, reply, context, { status: 400, text: detail.message })
    if (detail.code === 'NOT_FOUND') return sendError(request, reply, context, { status: 404, text: detail.message })
    if (detail.code === 'INDEX_NOT_READY')
      return sendError(request, reply, context, {
        status: 503,
        text: `The index is being filled${lagText(detail.lag)}.`,
        reloads: true,
      })
    if (error.code === 'NODE_UNREACHABLE' || error.code === 'DATABASE_UNREACHABLE')
      return sendError(request, reply, context, { status: 503, text: 'The explorer cannot be reached.', reloads: true })
  }
  if ((error.statusCode ?? 500) < 500)
    return sendError(request, reply, context, { status: 400, text: 'The request cannot be read.' })
  logger.error({ err: error.stack ?? error.message, path: request.routeOptions.url }, 'a page of the explorer failed')
  return sendError(request, reply, context, { status: 500, text: 'The log of the node has the reason.' })
}

const lagText = (lag: number): string =>
  Number.isFinite(lag) ? `: ${lag.toLocaleString('en-US')} blocks are missing` : ''
