import { type FastifyInstance, fastify } from 'fastify'
import { ASSETS_PATH } from './negotiation.ts'
import { assetResponse } from './response.ts'

interface PageServerOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Path of the first page. */
  readonly home: string
  /** Body of `/health`, answered with 503 unless healthy. */
  readonly health: () => { readonly healthy: boolean }
  readonly bodyBytes: number
  readonly requestMs: number
  readonly connectionMs: number
  readonly connections: number
}

export interface PageServer {
  readonly port: number
  close(): Promise<void>
}

/** Serves the assets below a path. */
export const addAssets = (app: FastifyInstance, below: string): void => {
  app.get(`${below}/*`, ({ url, headers }, reply) => {
    const asset = assetResponse(url.split('?')[0] ?? '', headers['accept-encoding'])
    return asset === undefined ? reply.callNotFound() : reply.code(asset.status).headers(asset.headers).send(asset.body)
  })
}

/** Serves pages, their assets and a health check on a port of their own, for a command that is no node. Rejects when the port is taken. */
export const startPageServer = async (
  options: PageServerOptions,
  addRoutes: (app: FastifyInstance) => void,
): Promise<PageServer> => {
  const { host, port, home, health, bodyBytes, requestMs, connectionMs, connections } = options
  const app: FastifyInstance = fastify({
    bodyLimit: bodyBytes,
    requestTimeout: requestMs,
    connectionTimeout: connectionMs,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
  })
  app.server.maxConnections = connections
  app.get('/', (_request, reply) => reply.redirect(home, 303))
  app.get('/health', (_request, reply) => {
    const body = health()
    return reply.code(body.healthy ? 200 : 503).send(body)
  })
  addAssets(app, ASSETS_PATH)
  addRoutes(app)
  app.setNotFoundHandler((_request, reply) => reply.code(404).type('text/plain').send('not found\n'))
  await app.listen({ host, port })
  const bound = app.server.address()
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : port,
    close: () => app.close(),
  }
}
