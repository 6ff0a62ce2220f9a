import { randomBytes, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { ClientBudget } from '@tandem/base/client-budget.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { EXPLORER_PATH } from '@tandem/web/site.ts'
import type { FastifyInstance } from 'fastify'
import { FORWARD_LIMITS } from '../../../config/limits/clients.ts'
import { clientIdOf } from '../../../rpc/transport/clients/clients.ts'
import type { ExplorerNodeOptions } from '../../options.ts'
import type { Teardown } from '../../teardown.ts'
import { ExplorerChild } from './explorer-child.ts'
import type { ExplorerSettings } from './explorer-settings.ts'
import { type ForwardTarget, forward } from './forward.ts'

interface ExplorerPartsOptions
  extends Pick<ExplorerSettings, 'ephemeral' | 'hasFaucet' | 'disabledMethods' | 'publicNamespaces'> {
  readonly dataDir: string
  readonly explorer: ExplorerNodeOptions
  /** Opens JSON-RPC on the loopback for the holder of a key. */
  readonly openRpc: (key: string) => Promise<ExplorerRpc>
  readonly logger: Logger
}

interface ExplorerRpc {
  /** Address of its WebSocket. */
  readonly url: string
  close(): Promise<void>
}

const PATHS = ['/api', '/api/*', EXPLORER_PATH, `${EXPLORER_PATH}/*`]
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Explorer on the public port: a process of its own, started by the first request. Returns the function that adds the routes. */
export const createExplorer = (options: ExplorerPartsOptions, teardown: Teardown): ((app: FastifyInstance) => void) => {
  const { explorer, openRpc, dataDir, ephemeral, hasFaucet, disabledMethods, publicNamespaces, logger } = options
  const forwardKey = randomBytes(32).toString('hex')
  let rpc: Promise<ExplorerRpc> | undefined
  const settings = async (): Promise<ExplorerSettings> => {
    rpc ??= openRpc(randomBytes(32).toString('hex'))
    // The next start opens it anew.
    rpc.catch(() => {
      rpc = undefined
    })
    const { startsAtOnce: _, logLevel = 'info', ...files } = explorer
    return {
      ...files,
      nodeUrl: (await rpc).url,
      dataDir: join(dataDir, 'explorer'),
      ...{ ephemeral, hasFaucet, disabledMethods, publicNamespaces, forwardKey, logLevel },
    }
  }
  const child = new ExplorerChild({ settings, logger })
  teardown.add(async () => {
    await child.close()
    await (await rpc?.catch(() => undefined))?.close()
  })
  const requests = new ClientBudget(FORWARD_LIMITS.requests)
  const unread = new ClientBudget(FORWARD_LIMITS.unread)
  return app => {
    void app.register(async scope => {
      scope.removeAllContentTypeParsers()
      // The body is passed on as it comes.
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
      for (const url of PATHS)
        scope.route({
          method: [...METHODS],
          url,
          handler: (request, reply) => {
            reply.hijack()
            // Until it is passed on: listeners that count its pieces would let it flow away.
            request.raw.pause()
            void pass(request.raw, reply.raw, request.ip)
          },
        })
    })
    if (explorer.startsAtOnce) child.port().catch(() => undefined)
  }

  async function pass(request: IncomingMessage, response: ServerResponse, client: string): Promise<void> {
    const place = requests.meter(clientIdOf(client))
    if (!place.hold(1)) return sendRefusal(request, response, 503, 1, 'too many requests are in progress; come again')
    response.once('close', () => place.hold(0))
    try {
      const target: ForwardTarget = { port: await child.port(), key: forwardKey }
      if (response.destroyed) return
      forward(request, response, target, {
        client,
        unread: unread.meter(clientIdOf(client)),
        refuse: error => {
          logger.debug({ err: error }, 'a request got no response from the explorer')
          sendRefusal(request, response, 502, 1, 'the explorer broke off; come again')
        },
      })
    } catch (error) {
      if (!isCoded(error) || error.code !== 'EXPLORER_AWAY') throw error
      const { retrySeconds } = error.detail as unknown as { readonly retrySeconds: number }
      const text = `the explorer is not running; it is started again in ${retrySeconds} s, and the log of the node has the reason`
      sendRefusal(request, response, 503, retrySeconds, text)
    }
  }
}

/** Sends an error in the form of the API, or as text where a page was requested. */
const sendRefusal = (
  { url = '' }: IncomingMessage,
  response: ServerResponse,
  status: 502 | 503,
  retrySeconds: number,
  message: string,
): void => {
  if (response.headersSent || response.destroyed) return
  const fields = { 'retry-after': String(retrySeconds), 'cache-control': 'no-store' }
  if (url.startsWith(EXPLORER_PATH)) {
    response.writeHead(status, { ...fields, 'content-type': 'text/plain; charset=utf-8' })
    response.end(`${message}\n`)
    return
  }
  const isModule = url === '/api' || url.startsWith('/api?')
  const error = { code: 'EXPLORER_UNAVAILABLE', message, field: null, requestId: randomUUID() }
  const body = isModule ? { status: '0', message: 'NOTOK', result: message } : { error }
  response.writeHead(status, { ...fields, 'content-type': 'application/json', 'access-control-allow-origin': '*' })
  response.end(JSON.stringify(body))
}
