import { type FastifyInstance, fastify } from 'fastify'
import { EXPLORER_LIMITS } from '../../config/limits/explorer.ts'
import { ASSETS_PATH } from '../../web/negotiation.ts'
import { assetResponse } from '../../web/response.ts'
import { EXPLORER_PATH, type Site } from '../../web/site.ts'
import { addExplorerRoutes, type ExplorerHttpOptions } from './explorer-http.ts'
import { healthBody, type IndexerHealth } from './indexer-health.ts'
import type { LiveStream } from './live-stream.ts'
import { addPageRoutes } from './pages-http.ts'

interface ExplorerServerOptions extends ExplorerHttpOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly site: Site
  readonly live: LiveStream
  /** State of the index. */
  readonly health: () => IndexerHealth
}

interface ExplorerServer {
  readonly port: number
  close(): Promise<void>
}

/** Serves API and pages of the explorer on a port of its own. Rejects when the port is taken. */
export const startExplorerServer = async ({
  host,
  port,
  ...options
}: ExplorerServerOptions): Promise<ExplorerServer> => {
  const { requestMs, connectionMs, connections } = EXPLORER_LIMITS.http
  const app: FastifyInstance = fastify({
    bodyLimit: EXPLORER_LIMITS.verification.bodyBytes,
    requestTimeout: requestMs,
    connectionTimeout: connectionMs,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
  })
  app.server.maxConnections = connections
  app.get('/', (_request, reply) => reply.redirect(EXPLORER_PATH, 303))
  app.get('/health', (_request, reply) => {
    const body = healthBody(options.health(), Date.now())
    return reply.code(body.healthy ? 200 : 503).send(body)
  })
  app.get(`${ASSETS_PATH}/*`, ({ url, headers }, reply) => {
    const accepted = headers['accept-encoding']
    const asset = assetResponse(url.split('?')[0] ?? '', typeof accepted === 'string' ? accepted : undefined)
    return asset === undefined ? reply.callNotFound() : reply.code(asset.status).headers(asset.headers).send(asset.body)
  })
  addExplorerRoutes(app, options)
  addPageRoutes(app, options)
  app.setNotFoundHandler((_request, reply) => reply.code(404).type('text/plain').send('not found\n'))
  await app.listen({ host, port })
  const bound = app.server.address()
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : port,
    close: () => app.close(),
  }
}
