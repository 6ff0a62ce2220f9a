import { type FastifyInstance, fastify } from 'fastify'
import { FAUCET_LIMITS } from '../../config/limits/faucet.ts'
import { ASSETS_PATH } from '../../web/negotiation.ts'
import { assetResponse } from '../../web/response.ts'
import { FAUCET_PATH } from '../../web/site.ts'
import { addFaucetRoutes, type FaucetHttpOptions } from './faucet-http.ts'

interface FaucetServerOptions extends FaucetHttpOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
}

interface FaucetServer {
  readonly port: number
  close(): Promise<void>
}

/** Serves the faucet on a port of its own. Rejects when the port is taken. */
export const startFaucetServer = async ({ host, port, ...options }: FaucetServerOptions): Promise<FaucetServer> => {
  const app: FastifyInstance = fastify({
    bodyLimit: FAUCET_LIMITS.http.bodyBytes,
    requestTimeout: FAUCET_LIMITS.http.requestMs,
    connectionTimeout: FAUCET_LIMITS.http.connectionMs,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
  })
  app.server.maxConnections = FAUCET_LIMITS.http.connections
  app.get('/', (_request, reply) => reply.redirect(FAUCET_PATH, 303))
  app.get('/health', (_request, reply) => reply.send({ healthy: true }))
  app.get(`${ASSETS_PATH}/*`, ({ url, headers }, reply) => {
    const accepted = headers['accept-encoding']
    const asset = assetResponse(url.split('?')[0] ?? '', typeof accepted === 'string' ? accepted : undefined)
    return asset === undefined ? reply.callNotFound() : reply.code(asset.status).headers(asset.headers).send(asset.body)
  })
  addFaucetRoutes(app, options)
  app.setNotFoundHandler((_request, reply) => reply.code(404).type('text/plain').send('not found\n'))
  await app.listen({ host, port })
  const bound = app.server.address()
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : port,
    close: () => app.close(),
  }
}
