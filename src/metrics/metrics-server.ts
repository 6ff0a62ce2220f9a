import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from '@tandem/base/logger.ts'
import type { Metrics } from './registry.ts'

interface MetricsServerOptions {
  readonly metrics: Metrics
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly logger: Logger
}

/** Serves `GET /metrics` on its own port, away from the public endpoints. Rejects when the port is taken. */
export const startMetricsServer = async ({ metrics, host, port, logger }: MetricsServerOptions) => {
  const server = createServer(
    { requestTimeout: 5_000, headersTimeout: 5_000, maxHeaderSize: 8_192 },
    (request, response) => {
      answer(metrics, request, response).catch(error => {
        logger.error({ err: error }, 'metrics could not be rendered')
        if (!response.headersSent) send(response, 500, 'metrics could not be rendered\n')
      })
    },
  )
  server.maxConnections = 64
  server.listen(port, host)
  await once(server, 'listening')
  server.on('error', error => logger.error({ err: error }, 'metrics server failed'))
  const address = server.address() as AddressInfo
  return {
    port: address.port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}/metrics`,
    close(): Promise<void> {
      const closed = server[Symbol.asyncDispose]()
      server.closeAllConnections()
      return closed
    },
  }
}

const answer = async (metrics: Metrics, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const path = (request.url ?? '/').split('?', 1)[0]
  if (path !== '/metrics') return send(response, 404, 'metrics are at /metrics\n')
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    return send(response, 405, 'only GET\n')
  }
  response.setHeader('content-type', metrics.contentType)
  send(response, 200, await metrics.render())
}

const send = (response: ServerResponse, status: number, body: string): void => {
  response.statusCode = status
  if (!response.hasHeader('content-type')) response.setHeader('content-type', 'text/plain; charset=utf-8')
  response.end(body)
}
