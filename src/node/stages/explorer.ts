import { randomBytes, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { ClientBudget } from '@tandem/base/client-budget.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { EXPLORER_PATH } from '@tandem/web/site.ts'
import type { FastifyInstance } from 'fastify'
import { FORWARD_LIMITS } from '../../config/limits/clients.ts'
import { clientIdOf } from '../../rpc/transport/clients/clients.ts'
import { createRpcServer } from '../../rpc/transport/server.ts'
import type { RpcServiceOptions } from '../../rpc/transport/service.ts'
import type { ExplorerNodeOptions, NodeOptions } from '../options.ts'
import { ExplorerChild, type ExplorerSettings } from '../parts/pages/explorer-child.ts'
import { type ForwardTarget, forward } from '../parts/pages/forward.ts'
import type { StorageStage } from './storage.ts'

interface ExplorerRpc {
  /** Address of its WebSocket. */
  readonly url: string
  close(): Promise<void>
}

const PATHS = ['/api', '/api/*', EXPLORER_PATH, `${EXPLORER_PATH}/*`]
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Opens a loopback port for the explorer's calls, without rate limit: what the public port serves and the index needs. */
const openExplorerRpc = async ({ genesis, namespaces }: NodeOptions, rpc: RpcServiceOptions): Promise<ExplorerRpc> => {
  const key = randomBytes(32).toString('hex')
  const served = [...new Set([...(namespaces ?? genesis.params.namespaces).http, 'eth', 'native'])]
  const server = await createRpcServer({
    ...rpc,
    host: '127.0.0.1',
    port: 0,
    namespaces: { http: [], ws: served },
    wsPaths: ['/ws'],
    hosts: ['localhost'],
    checkOrigin: true,
    clientRules: { apiKeys: [{ name: 'explorer', key, perSecond: Number.MAX_SAFE_INTEGER }], needsKey: true },
  })
  return { url: `ws://127.0.0.1:${server.port}/ws?apikey=${key}`, close: () => server.close() }
}

/** Adds the explorer to the public port: a process of its own, started by the first request. */
export const addExplorer = (
  { options, teardown, part }: StorageStage,
  explorer: ExplorerNodeOptions,
  rpcOptions: RpcServiceOptions,
  app: FastifyInstance,
): void => {
  const { dataDir, ephemeral = false, disabledMethods = [], genesis, namespaces, faucet } = options
  const logger = part('explorer')
  const forwardKey = randomBytes(32).toString('hex')
  let rpc: Promise<ExplorerRpc> | undefined
  const settings = async (): Promise<ExplorerSettings> => {
    rpc ??= openExplorerRpc(options, rpcOptions)
    // The next start opens it anew.
    rpc.catch(() => {
      rpc = undefined
    })
    const { startsAtOnce: _, logLevel = 'info', ...files } = explorer
    return {
      ...files,
      nodeUrl: (await rpc).url,
      dataDir: join(dataDir, 'explorer'),
      publicNamespaces: (namespaces ?? genesis.params.namespaces).http,
      hasFaucet: faucet !== undefined,
      ...{ ephemeral, disabledMethods, forwardKey, logLevel },
    }
  }
  const child = new ExplorerChild({ settings, logger })
  teardown.add(async () => {
    await child.close()
    await (await rpc?.catch(() => undefined))?.close()
  })
  const requests = new ClientBudget(FORWARD_LIMITS.requests)
  const unread = new ClientBudget(FORWARD_LIMITS.unread)
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
