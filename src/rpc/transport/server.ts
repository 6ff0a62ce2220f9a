import type { Server as HttpsServer } from 'node:https'
import { onTurnEnd } from '@tandem/base/async/time-slice.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { ClientBudget } from '@tandem/base/client-budget.ts'
import { collectYoungGarbage } from '@tandem/base/worker/garbage.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import type { HealthStatus, MiningPort } from '../ports.ts'
import type { Budgets } from '../router/budgets.ts'
import { textOfResponse } from '../router/response.ts'
import { type ClientRules, Clients, clientIdOf } from './clients/clients.ts'
import { cancellationOf } from './http/calls.ts'
import { createHttp, type HttpOptions, type NodePages } from './http/http.ts'
import { readTls, type TlsFiles, watchTls } from './http/tls-files.ts'
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

/** Serves JSON-RPC over HTTP and WebSocket on one port; a service that others use too is closed by its owner. */
export const createRpcServer = async (options: RpcServerOptions, shared?: RpcService): Promise<RpcServer> => {
  const service = shared ?? createRpcService(options)
  const { hub, budgets, metrics } = service
  onTurnEnd(collectYoungGarbage)
  const tls = options.tls && (await readTls(options.tls))
  const { app, sockets } = attachTransports(options, service, tls)
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
      if (shared === undefined) service.close()
      await sockets.close()
      await app.close()
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
  const app = createHttp({
    ...common,
    endpoint: endpoints.http,
    wsPaths: paths,
    wsRedirect: redirect,
    tls,
    compression: options.compression ?? false,
    health: options.health ?? (() => ({ healthy: true })),
    pages: options.pages,
  })
  if (options.mining !== undefined) addWorkRoute(app, options.mining)
  options.routes?.(app, async request => textOfResponse(await gate.handle(Buffer.from(request), endpoints.http)))
  const sockets = attachWebSockets(app.server, {
    ...common,
    endpoint: endpoints.ws,
    hub,
    paths,
    redirect,
    log: options.log,
  })
  return { app, sockets }
}

type Work = NonNullable<ReturnType<MiningPort['work']>>

/**
 * `GET /work`: the work of native_getWork. With `longpollid`, the seal hash of the work that the miner has, the answer waits for other
 * work, half a minute at most.
 */
export const addWorkRoute = (app: FastifyInstance, mining: Pick<MiningPort, 'work' | 'onWork'>): void => {
  const places = new ClientBudget(RPC_LIMITS.workPolls)
  app.get('/work', async (request: FastifyRequest, reply: FastifyReply) => {
    const query = request.query as Readonly<Record<string, unknown>>
    const { coinbase, longpollid } = query
    if (coinbase !== undefined && !isAddress(coinbase)) return refuse(reply, 400, 'coinbase is 0x and 40 hex digits')
    const payee = coinbase?.toLowerCase() as Hex | undefined
    const fresh = () => {
      const work = mining.work(payee)
      return work?.[0] === longpollid ? undefined : work
    }
    const now = fresh()
    if (now !== undefined) return answer(reply, now)
    if (longpollid === undefined) return refuse(reply, 503, NO_WORK)
    const place = places.meter(clientIdOf(request.ip))
    if (!place.hold(1)) return refuse(reply, 503, 'too many miners wait: poll native_getWork')
    const work = await nextWork(mining, fresh, request).finally(() => place.hold(0))
    const known = work ?? mining.work(payee)
    return known === undefined ? refuse(reply, 503, NO_WORK) : answer(reply, known)
  })
}

const NO_WORK = 'no mining work available yet'

const isAddress = (value: unknown): value is string => typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)

const refuse = (reply: FastifyReply, code: number, reason: string): FastifyReply =>
  reply.code(code).type('text/plain').send(`${reason}\n`)

const answer = (reply: FastifyReply, work: Work): FastifyReply =>
  reply.header('content-type', 'application/json').send(JSON.stringify(work))

/** Resolves to undefined when the time is over or the miner has gone. */
const nextWork = async (
  mining: Pick<MiningPort, 'onWork'>,
  fresh: () => Work | undefined,
  { raw }: FastifyRequest,
): Promise<Work | undefined> => {
  const { promise, resolve } = Promise.withResolvers<Work | undefined>()
  const timer = setTimeout(resolve, RPC_LIMITS.workPollMs, undefined)
  const stop = mining.onWork(() => {
    const work = fresh()
    if (work !== undefined) resolve(work)
  })
  // One listener of the socket for all of its polls.
  const forget = cancellationOf(raw.socket).onCancel(() => resolve(undefined))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    stop()
    forget()
  }
}
