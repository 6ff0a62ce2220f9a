import { once } from 'node:events'
import type { Server } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { onTurnEnd } from '@tandem/base/async/time-slice.ts'
import { readTls, type TlsFiles, watchTls } from '@tandem/base/fs/tls-files.ts'
import { collectYoungGarbage } from '@tandem/base/worker/garbage.ts'
import type { FastifyInstance } from 'fastify'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import type { HealthStatus } from '../ports.ts'
import type { Budgets } from '../router/budgets.ts'
import { textOfResponse } from '../router/response.ts'
import { type ClientRules, Clients } from './clients/clients.ts'
import { createHttp, type HttpOptions } from './http/http.ts'
import type { NodePages } from './http/routes.ts'
import { createRpcService, type RpcService, type RpcServiceOptions } from './service.ts'
import { attachWebSockets } from './ws/ws.ts'

export interface RpcServerOptions extends RpcServiceOptions {
  readonly host: string
  /** Port to listen on; 0 takes a free one. */
  readonly port: number
  readonly wsPaths?: readonly string[]
  readonly wsRedirect?: string | null
  /** Origins of web pages that may call, or `*`; none by default. */
  readonly cors?: readonly string[]
  /** Refuses calls of web pages whose origin is neither in `cors` nor local; otherwise only the response is withheld from the page. */
  readonly checkOrigin?: boolean
  /** Accepted names in the Host header, or `*` (default). */
  readonly hosts?: readonly string[]
  /** How clients are told apart, and their limits. */
  readonly clientRules?: ClientRules
  /** Files of the certificate; omitted: the port is not encrypted. */
  readonly tls?: TlsFiles
  /** Compresses responses for clients that accept gzip. */
  readonly compression?: boolean
  readonly health?: () => HealthStatus
  /** Pages for browsers; omitted: none. */
  readonly pages?: NodePages
  /** Additional routes on the same port (explorer, faucet), which may call methods of the HTTP endpoint. */
  readonly routes?: (app: FastifyInstance, call: RpcCall) => void | Promise<void>
}

/** Returns the text of the response to the text of a JSON-RPC request. */
export type RpcCall = (request: string) => Promise<string>

export interface RpcServer {
  readonly address: string
  readonly port: number
  readonly server: Server
  /** Loads the routes before a request does. */
  readonly routes: () => Promise<FastifyInstance>
  /** Resources held by the clients. */
  readonly budgets: Budgets
  /** Closes within a second, also with clients connected. */
  close(): Promise<void>
}

/** Serves JSON-RPC over HTTP and WebSocket on one port; a service that others use too is closed by its owner. */
export const createRpcServer = async (options: RpcServerOptions, shared?: RpcService): Promise<RpcServer> => {
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
    ...{ server: http.server, routes: http.routes, budgets },
    async close() {
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
  const paths = options.wsPaths ?? params.wsPaths
  const redirect = options.wsRedirect === undefined ? params.wsRedirect : options.wsRedirect
  const hosts = options.hosts ?? ['*']
  const clients = new Clients(options.clientRules ?? {})
  const access = { cors: options.cors ?? [], hosts, checkOrigin: options.checkOrigin ?? false }
  const common = { gate, ...access, clients, budgets }
  const http = createHttp({
    ...common,
    endpoint: endpoints.http,
    wsPaths: paths,
    wsRedirect: redirect,
    tls,
    compression: options.compression ?? false,
    health: options.health ?? (() => ({ healthy: true })),
    pages: options.pages,
    mining: options.mining,
    routes: async app =>
      options.routes?.(app, async request => textOfResponse(await gate.handle(Buffer.from(request), endpoints.http))),
  })
  const sockets = attachWebSockets(http.server, {
    ...common,
    endpoint: endpoints.ws,
    hub,
    paths,
    redirect,
    log: options.log,
  })
  return { http, sockets }
}
