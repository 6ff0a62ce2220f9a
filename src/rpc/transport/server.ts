import { once } from 'node:events'
import type { Server as HttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { onTurnEnd } from '@tandem/base/async/time-slice.ts'
import { readTls, type TlsFiles, watchTls } from '@tandem/base/fs/tls-files.ts'
import { collectYoungGarbage } from '@tandem/base/worker/garbage.ts'
import type { FastifyInstance } from 'fastify'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import { textOfResponse } from '../router/response.ts'
import type { AccessRules } from './clients/access.ts'
import { type ClientRules, createClients } from './clients/clients.ts'
import { createHttp, type HttpOptions } from './http/http.ts'
import { createRpcService, type RpcService, type RpcServiceOptions } from './service.ts'
import { attachWebSockets } from './ws/ws.ts'

/** Options of a port; those of access are by default: no origins, every host, and no check of origins. */
export interface RpcServerOptions
  extends RpcServiceOptions,
    Partial<AccessRules>,
    Partial<Pick<HttpOptions, 'wsPaths' | 'wsRedirect' | 'compression' | 'health' | 'pages'>> {
  readonly host: string
  /** Port to listen on; 0 takes a free one. */
  readonly port: number
  /** How clients are told apart, and their limits. */
  readonly clientRules?: ClientRules
  /** Files of the certificate; omitted: the port is not encrypted. */
  readonly tls?: TlsFiles
  /** Additional routes on the same port (explorer, faucet), which may call methods of the HTTP endpoint. */
  readonly routes?: (app: FastifyInstance, call: RpcCall) => void | Promise<void>
}

/** Returns the text of the response to the text of a JSON-RPC request. */
export type RpcCall = (request: string) => Promise<string>

export type RpcServer = Awaited<ReturnType<typeof createRpcServer>>

/** Serves JSON-RPC over HTTP and WebSocket on one port; a service that others use too is closed by its owner. */
export const createRpcServer = async (options: RpcServerOptions, shared?: RpcService) => {
  const service = shared ?? createRpcService(options)
  const { hub, budgets, metrics } = service
  onTurnEnd(collectYoungGarbage)
  const tls = options.tls && (await readTls(options.tls))
  const { http, sockets } = attachTransports(options, service, tls)
  const unwatch = options.tls && watchTls(http.server as HttpsServer, options.tls, options.log)
  metrics?.gauges.push({ connections: sockets.sockets, subscriptions: () => hub.size, budgets })
  const { host, port } = options
  http.server.listen({ host, port, backlog: RPC_LIMITS.backlog })
  await once(http.server, 'listening')
  return {
    ...(http.server.address() as AddressInfo),
    server: http.server,
    /** Loads the routes before a request does. */
    routes: http.routes,
    /** Resources held by the clients. */
    budgets,
    /** Closes within a second, also with clients connected. */
    async close(): Promise<void> {
      unwatch?.()
      if (shared === undefined) service.close()
      await sockets.close()
      await http.close()
    },
  }
}

/** Attaches HTTP and WebSocket to one port that does not listen yet. */
const attachTransports = (options: RpcServerOptions, service: RpcService, tls: HttpOptions['tls']) => {
  const { params } = options.view
  const { gate, budgets, hub, endpoints } = service
  const { wsPaths = params.wsPaths, wsRedirect = params.wsRedirect } = options
  const { hosts = ['*'], cors = [], checkOrigin = false, compression = false } = options
  const { health = () => ({ healthy: true }), pages, mining, log } = options
  const clients = createClients(options.clientRules ?? {})
  const common = { gate, cors, hosts, checkOrigin, clients, budgets, wsPaths, wsRedirect }
  const http = createHttp({
    ...{ ...common, endpoint: endpoints.http, tls, compression, health, pages, mining },
    routes: async app =>
      options.routes?.(app, async request => textOfResponse(await gate.handle(Buffer.from(request), endpoints.http))),
  })
  const sockets = attachWebSockets(http.server, { ...common, endpoint: endpoints.ws, hub, log })
  return { http, sockets }
}
