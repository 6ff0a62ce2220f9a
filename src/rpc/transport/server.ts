import type { Server as HttpsServer } from 'node:https'
import { onTurnEnd } from '@tandem/base/async/time-slice.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { collectYoungGarbage } from '@tandem/base/worker/garbage.ts'
import type { FastifyInstance } from 'fastify'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import type { Metrics } from '../../metrics/registry.ts'
import { methodsFor, withDisabled } from '../methods/methods.ts'
import type { HealthStatus } from '../ports.ts'
import { type Budgets, createBudgets } from '../router/budgets.ts'
import type { Context, Services } from '../router/context.ts'
import type { Endpoint } from '../router/method.ts'
import type { RefusalListener } from '../router/method-caller.ts'
import { createRpcMetrics } from '../router/metrics.ts'
import { textOfResponse } from '../router/response.ts'
import { ResponseCache } from '../router/response-cache.ts'
import { createRouter } from '../router/router.ts'
import { FilterManager } from '../subscriptions/filters.ts'
import { SharedCriteria } from '../subscriptions/shared-criteria.ts'
import { SubscriptionHub } from '../subscriptions/subscription-hub.ts'
import { type ClientRules, Clients } from './clients/clients.ts'
import { createHttp, type HttpOptions, type NodePages } from './http/http.ts'
import { readTls, type TlsFiles, watchTls } from './http/tls-files.ts'
import { addWorkRoute } from './http/work-route.ts'
import { RequestGate } from './request-gate.ts'
import { attachWebSockets } from './ws/ws.ts'

export interface RpcServerOptions extends Services {
  readonly host: string
  /** Port to listen on; 0 takes a free one. */
  readonly port: number
  readonly log: Logger
  /** Namespaces per transport; the network's own by default. The operator port passes its own. */
  readonly namespaces?: { readonly http: readonly string[]; readonly ws: readonly string[] }
  /** Methods that the operator switched off: they return -32075 `Method disabled`. */
  readonly disabledMethods?: readonly string[]
  readonly wsPaths?: readonly string[]
  readonly wsRedirect?: string | null
  /** Origins of web pages that may call, or `*`; none by default. */
  readonly cors?: readonly string[]
  /**
   * Refuses calls of web pages whose origin is neither in `cors` nor local; otherwise only the response is withheld from the
   * page.
   */
  readonly checkOrigin?: boolean
  /** Accepted names in the Host header, or `*` (default). */
  readonly hosts?: readonly string[]
  /** How clients are told apart, and their limits. */
  readonly clientRules?: ClientRules
  /** WebSocket connections of one client; the default of `RPC_LIMITS.budgets` when omitted. */
  readonly socketsPerClient?: number
  /** Files of the certificate; omitted: the port is not encrypted. */
  readonly tls?: TlsFiles
  /** Compresses responses for clients that accept gzip. */
  readonly compression?: boolean
  readonly health?: () => HealthStatus
  readonly metrics?: Metrics
  readonly onRefused?: RefusalListener
  /** Pages for browsers; omitted: none. */
  readonly pages?: NodePages
  /** Additional routes on the same port (explorer, faucet), which may call methods of the HTTP endpoint. */
  readonly routes?: (app: FastifyInstance, call: RpcCall) => void
}

/** Returns the text of the response to the text of a JSON-RPC request. */
export type RpcCall = (request: string) => Promise<string>

export interface RpcServer {
  readonly address: string
  readonly port: number
  /** For tests without sockets: `app.inject`. */
  readonly app: FastifyInstance
  /** Resources held by the clients. */
  readonly budgets: Budgets
  /** Closes within a second, also with clients connected. */
  close(): Promise<void>
}

/** Serves JSON-RPC over HTTP and WebSocket on one port. */
export const createRpcServer = async (options: RpcServerOptions): Promise<RpcServer> => {
  const parts = createParts(options)
  const { hub, budgets, metrics } = parts
  onTurnEnd(collectYoungGarbage)
  const tls = options.tls && (await readTls(options.tls))
  const { app, sockets } = attachTransports(options, parts, tls)
  const unwatch = options.tls && watchTls(app.server as unknown as HttpsServer, options.tls, options.log)
  metrics?.gauges.push({ connections: sockets.sockets, subscriptions: () => hub.size, budgets })
  await app.listen({ host: options.host, port: options.port, backlog: RPC_LIMITS.backlog })
  const bound = app.addresses()[0]
  const { address, port } =
    typeof bound === 'object' && 'port' in bound ? bound : { address: options.host, port: options.port }
  return {
    address,
    port,
    app,
    budgets,
    async close() {
      unwatch?.()
      hub.close()
      parts.filters.close()
      parts.responseCache.close()
      await sockets.close()
      await app.close()
    },
  }
}

/** Parts of a server that both transports use. */
type ServerParts = ReturnType<typeof createParts>

const createParts = ({ view, pool, log, ...options }: RpcServerOptions) => {
  const budgets = createBudgets(options.socketsPerClient)
  const criteria = new SharedCriteria()
  const metrics = options.metrics && createRpcMetrics(options.metrics)
  return {
    budgets,
    filters: new FilterManager({ view, pool, budgets, criteria }),
    hub: new SubscriptionHub({
      view,
      pool,
      budgets,
      criteria,
      ...(options.proofChain && { proofChain: options.proofChain }),
      ...(options.mining && { mining: options.mining }),
    }),
    responseCache: new ResponseCache(view),
    metrics,
    gate: new RequestGate(
      createRouter({
        log,
        ledger: budgets.memory,
        ...(metrics && { metrics }),
        ...(options.onRefused && { onRefused: options.onRefused }),
      }),
      budgets.memory,
    ),
  }
}

/** Attaches HTTP and WebSocket to one port that does not listen yet. */
const attachTransports = (options: RpcServerOptions, parts: ServerParts, tls: HttpOptions['tls']) => {
  const { params } = options.view
  const { gate, budgets, hub } = parts
  const namespaces = options.namespaces ?? params.namespaces
  const paths = options.wsPaths ?? params.wsPaths
  const redirect = options.wsRedirect === undefined ? params.wsRedirect : options.wsRedirect
  const hosts = options.hosts ?? ['*']
  const clients = new Clients(options.clientRules ?? {})
  const access = { cors: options.cors ?? [], hosts, checkOrigin: options.checkOrigin ?? false }
  const common = { gate, ...access, clients, budgets }
  const endpoint = createEndpoint(namespaces.http, options, parts)
  const app = createHttp({
    ...common,
    endpoint,
    wsPaths: paths,
    wsRedirect: redirect,
    tls,
    compression: options.compression ?? false,
    health: options.health ?? (() => ({ healthy: true })),
    pages: options.pages,
  })
  if (options.mining !== undefined) addWorkRoute(app, options.mining)
  options.routes?.(app, async request => textOfResponse(await gate.handle(Buffer.from(request), endpoint)))
  const wsEndpoint = createEndpoint(namespaces.ws, options, parts)
  const sockets = attachWebSockets(app.server, {
    ...common,
    endpoint: wsEndpoint,
    hub,
    paths,
    redirect,
    log: options.log,
  })
  return { app, sockets }
}

const createEndpoint = (
  namespaces: readonly string[],
  options: RpcServerOptions,
  { filters, responseCache, budgets }: ServerParts,
): Endpoint => {
  const methods = withDisabled(methodsFor(namespaces, options), options.disabledMethods ?? [])
  const context: Context = {
    ...servicesOf(options),
    filters,
    responseCache,
    budgets,
    methods,
    namespaces,
    socket: null,
    client: '',
  }
  return { methods: new Map(Object.entries(methods)), context }
}

const servicesOf = ({
  view,
  pool,
  calls,
  simulations,
  wallet,
  info,
  economy,
  proofChain,
  mining,
  trace,
  peers,
  dev,
  logQueryPort,
}: Services): Services => ({
  view,
  pool,
  calls,
  simulations,
  wallet,
  info,
  ...(economy && { economy }),
  ...(proofChain && { proofChain }),
  ...(mining && { mining }),
  ...(trace && { trace }),
  ...(peers && { peers }),
  ...(dev && { dev }),
  ...(logQueryPort && { logQueryPort }),
})
