import { Cancellation } from '@tandem/base/async/cancellation.ts'
import { defined } from '@tandem/base/defined.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { Metrics } from '../../metrics/registry.ts'
import { methodsFor, withDisabled } from '../methods/methods.ts'
import { createBudgets } from '../router/budgets.ts'
import { CallOrder } from '../router/call-order.ts'
import type { Context, Services } from '../router/context.ts'
import type { Endpoint } from '../router/method.ts'
import type { RefusalListener } from '../router/method-caller.ts'
import { createRpcMetrics } from '../router/metrics.ts'
import { textOfResponse } from '../router/response.ts'
import { ResponseCache } from '../router/response-cache.ts'
import { Router } from '../router/router.ts'
import { FilterManager } from '../subscriptions/filters.ts'
import { SharedCriteria } from '../subscriptions/shared-criteria.ts'
import { SubscriptionHub } from '../subscriptions/subscription-hub.ts'
import { createRequestGate } from './request-gate.ts'

export interface RpcServiceOptions extends Services {
  readonly log: Logger
  /** Namespaces per transport; the network's own by default. The operator port passes its own. */
  readonly namespaces?: { readonly http: readonly string[]; readonly ws: readonly string[] }
  /** Methods that the operator switched off: they return -32075 `Method disabled`. */
  readonly disabledMethods?: readonly string[]
  /** WebSocket connections of one client; the default of `RPC_LIMITS.budgets` when omitted. */
  readonly socketsPerClient?: number
  readonly metrics?: Metrics
  readonly onRefused?: RefusalListener
}

/** Client of a service in its own process, with subscriptions, as a WebSocket has them. */
export interface RpcConnection {
  /** Returns the text of the response to the text of a JSON-RPC request. */
  request(body: string): Promise<string>
  close(): void
}

/** JSON-RPC without a port: methods, filters and subscriptions, as HTTP and WebSocket serve them. */
export type RpcService = ReturnType<typeof createRpcService>

export const createRpcService = (options: RpcServiceOptions) => {
  const { view, pool, log } = options
  const budgets = createBudgets(options.socketsPerClient)
  const criteria = new SharedCriteria()
  const metrics = options.metrics && createRpcMetrics(options.metrics)
  const filters = new FilterManager({ view, pool, budgets, criteria })
  const hub = new SubscriptionHub({
    ...{ view, pool, budgets, criteria },
    ...defined({ proofChain: options.proofChain, mining: options.mining }),
  })
  const responseCache = new ResponseCache(view)
  const router = new Router({ log, ledger: budgets.memory, ...defined({ metrics, onRefused: options.onRefused }) })
  const namespaces = options.namespaces ?? view.params.namespaces
  const parts = { filters, responseCache, budgets }
  const endpoints = {
    http: createEndpoint(namespaces.http, options, parts),
    ws: createEndpoint(namespaces.ws, options, parts),
  }
  const gate = createRequestGate(router, budgets.memory)
  return {
    ...{ budgets, hub, gate, metrics, endpoints },
    /** `onNotification` gets the text of each notification; its client reads at once. */
    connect: (onNotification: (text: string) => void) => connect({ gate, hub, endpoint: endpoints.ws }, onNotification),
    close() {
      hub.close()
      filters.close()
      responseCache.close()
    },
  }
}

/** Client id of connections of the own process. */
const INSIDE = 'process'

const connect = (
  { gate, hub, endpoint }: Pick<RpcService, 'gate' | 'hub'> & { readonly endpoint: Endpoint },
  onNotification: (text: string) => void,
): RpcConnection => {
  const cancellation = new Cancellation()
  const order = new CallOrder()
  const output = {
    send: (frame: Buffer) => onNotification(frame.toString()),
    drained: () => undefined,
    drop: () => session.close(),
  }
  const session = hub.open(output, INSIDE)
  return {
    async request(body) {
      const scope = session.scope()
      const context = { ...endpoint.context, socket: scope, client: INSIDE, cancellation, order }
      const response = await gate.handle(Buffer.from(body), { methods: endpoint.methods, context })
      try {
        return await textOfResponse(response, Number.POSITIVE_INFINITY)
      } finally {
        scope.release()
      }
    },
    close() {
      cancellation.cancel()
      session.close()
    },
  }
}

const createEndpoint = (
  namespaces: readonly string[],
  options: RpcServiceOptions,
  parts: Pick<Context, 'filters' | 'responseCache' | 'budgets'>,
): Endpoint => {
  const methods = withDisabled(methodsFor(namespaces, options), options.disabledMethods ?? [])
  const context: Context = { ...options, ...parts, methods, namespaces, socket: null, client: '' }
  return { methods: new Map(Object.entries(methods)), context }
}
