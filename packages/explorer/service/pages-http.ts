import { addAssets } from '@tandem/web/page-server.ts'
import { pageResponse } from '@tandem/web/response.ts'
import { isSameOrigin } from '@tandem/web/same-origin.ts'
import { EXPLORER_PATH, type Site } from '@tandem/web/site.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EXPLORER_LIMITS } from '../limits.ts'
import { errorPage } from '../pages/error-page.ts'
import { EXPLORER_ASSETS_PATH } from '../pages/wallet.ts'
import { countRequest, type ExplorerHttpOptions, hasRoomForBody, passOn } from './explorer-http.ts'
import type { LiveStream } from './live-stream.ts'

interface PageHttpOptions extends ExplorerHttpOptions {
  readonly site: Site
  readonly live: LiveStream
}

const FORM = 'application/x-www-form-urlencoded'

/** Request headers that pages read. */
const PASSED = ['accept-encoding', 'content-type'] as const

/** Serves the pages of the explorer on the node's port: counts requests with those of the API, and passes them on. */
export const addPageRoutes = (app: FastifyInstance, options: PageHttpOptions): void => {
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: () => void): void =>
    admitPage(request, reply, options, done)
  for (const url of [EXPLORER_PATH, `${EXPLORER_PATH}/*`])
    app.route({
      method: ['GET', 'HEAD'],
      url,
      onRequest,
      handler: (request, reply) => passPage(request, reply, options),
    })
  void app.register(async scope => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(FORM, { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    scope.setErrorHandler((error: { readonly statusCode?: number }, request, reply) => {
      const status = error.statusCode ?? 500
      // Closed with bytes of the body unread, the connection would take the response with it.
      reply.removeHeader('connection')
      const text = status === 413 ? 'The source code is too large.' : 'The form cannot be read.'
      return refuse(request, reply, options.site, { status, text })
    })
    scope.post(
      `${EXPLORER_PATH}/verify`,
      {
        bodyLimit: EXPLORER_LIMITS.verification.bodyBytes,
        onRequest: (request, reply, done) => admitForm(request, reply, options, done),
      },
      (request, reply) => passPage(request, reply, options),
    )
  })
  addAssets(app, EXPLORER_ASSETS_PATH)
  app.get(`${EXPLORER_PATH}/live`, { onRequest }, (request, reply) => {
    const client = options.clientOf(request)
    if (!options.live.add(reply.raw, client))
      return refuse(request, reply, options.site, { status: 503, text: 'Too many pages are open.' })
    return reply.hijack()
  })
}

const admitPage = (request: FastifyRequest, reply: FastifyReply, options: PageHttpOptions, done: () => void): void => {
  const { site } = options
  const { allowed, limit, resetSeconds } = countRequest(request, reply, options)
  if (!allowed) {
    const text = `${limit} requests in a minute are served. The next one is answered in ${resetSeconds} s.`
    void refuse(request, reply, site, { status: 429, text })
  } else if (request.url.length > EXPLORER_LIMITS.api.urlBytes) {
    void refuse(request, reply, site, { status: 414, text: 'No page has an address as long as this.' })
  } else done()
}

/** A form with source code: of this site, and as large as few at a time may be. */
const admitForm = (request: FastifyRequest, reply: FastifyReply, options: PageHttpOptions, done: () => void): void =>
  admitPage(request, reply, options, () => {
    if (!isSameOrigin(request.headers))
      void refuse(request, reply, options.site, { status: 403, text: 'Forms of other web sites are not taken.' })
    else if (!hasRoomForBody(request, reply, options))
      void refuse(request, reply, options.site, {
        status: 503,
        text: 'Too many submissions arrive. Try again in a moment.',
      })
    else done()
  })

const refuse = (
  { url, headers }: FastifyRequest,
  reply: FastifyReply,
  site: Site,
  { status, text, reloads = false }: { readonly status: number; readonly text: string; readonly reloads?: boolean },
): FastifyReply => {
  const page = errorPage(site, { status, text, path: url.split('?')[0] ?? '', reloads })
  const response = pageResponse(page, { status, acceptEncoding: headers['accept-encoding'], cacheControl: 'no-store' })
  return reply.code(status).headers(response.headers).send(response.body)
}

const passPage = (request: FastifyRequest, reply: FastifyReply, options: PageHttpOptions): Promise<FastifyReply> =>
  passOn(request, reply, options, PASSED, ({ status, text }) =>
    refuse(request, reply, options.site, { status, text: `${text}.`, reloads: true }),
  )
