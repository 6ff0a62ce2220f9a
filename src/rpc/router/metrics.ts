import { getOrMake } from '@tandem/base/get-or-make.ts'
import type { Metrics } from '../../metrics/registry.ts'
import type { Budgets } from './budgets.ts'

/** Metrics of each call: two clock reads and three additions. */
export interface RpcMetrics {
  /** Returns a monotonic time in milliseconds. */
  start(): number
  end(method: string, startedMs: number, ok: boolean): void
}

export const noMetrics: RpcMetrics = { start: () => 0, end: () => {} }

/** Calls faster than this count in the mean only: observing a histogram would cost more than the call. */
const SLOW_MS = 1

interface Tally {
  calls: number
  failures: number
  busyMs: number
}

interface RpcGauges {
  readonly connections: () => number
  readonly subscriptions: () => number
  readonly budgets: Budgets
}

/** Metrics of all RPC ports of a node. */
interface Declared extends RpcMetrics {
  readonly gauges: RpcGauges[]
}
const declared = new WeakMap<Metrics, Declared>()

/** Counts and times per method, shared by the ports of a node. Unknown methods are not counted, so the labels are bounded. */
export const createRpcMetrics = (metrics: Metrics): Declared => getOrMake(declared, metrics, declare)

const declare = (metrics: Metrics): Declared => {
  const calls = metrics.counter({ name: 'rpc_calls_total', help: 'Calls answered', labels: ['method'] })
  const failures = metrics.counter({
    name: 'rpc_errors_total',
    help: 'Calls answered with an error',
    labels: ['method'],
  })
  const busy = metrics.counter({
    name: 'rpc_handler_seconds_total',
    help: 'Time from request to response, summed: divided by rpc_calls_total it is the mean latency',
    labels: ['method'],
  })
  const slow = metrics.histogram({
    name: 'rpc_slow_call_seconds',
    help: 'Time from request to response of calls over one millisecond',
    labels: ['method'],
  })
  const gauges: RpcGauges[] = []
  const sum = (read: (item: RpcGauges) => number) => () => gauges.reduce((total, item) => total + read(item), 0)
  metrics.readGauge(
    'rpc_open_connections',
    'Open WebSocket connections',
    sum(item => item.connections()),
  )
  metrics.readGauge(
    'rpc_active_subscriptions',
    'Subscriptions of all connections',
    sum(item => item.subscriptions()),
  )
  declareBudgets(metrics, gauges)

  const tallies = new Map<string, Tally>()
  metrics.onScrape(() => {
    for (const [method, tally] of tallies) {
      calls.inc({ method }, tally.calls)
      failures.inc({ method }, tally.failures)
      busy.inc({ method }, tally.busyMs / 1_000)
      tally.calls = tally.failures = tally.busyMs = 0
    }
  })
  return {
    gauges,
    start: () => performance.now(),
    end(method, startedMs, ok) {
      const ms = performance.now() - startedMs
      const tally = getOrMake(tallies, method, () => ({ calls: 0, failures: 0, busyMs: 0 }))
      tally.calls++
      tally.busyMs += ms
      if (!ok) tally.failures++
      if (ms > SLOW_MS) slow.observe({ method }, ms / 1_000)
    },
  }
}

const BUDGETS = [
  'memory',
  'bodies',
  'answers',
  'criteria',
  'filters',
  'connections',
  'sockets',
] as const satisfies readonly (keyof Budgets)[]

/** Usage of each budget: of all clients together, and of the client that holds most. */
const declareBudgets = (metrics: Metrics, gauges: readonly RpcGauges[]): void => {
  const held = metrics.gauge({
    name: 'rpc_budget_held_size',
    help: 'Bytes or items that all clients hold of a budget; its limit is in docs/security.md',
    labels: ['budget'],
  })
  const most = metrics.gauge({
    name: 'rpc_budget_client_size',
    help: 'The same of the client that holds most',
    labels: ['budget'],
  })
  metrics.onScrape(() => {
    for (const budget of BUDGETS) {
      const kept = gauges.map(({ budgets }) => budgets[budget])
      held.set(
        { budget },
        kept.reduce((sum, one) => sum + one.held, 0),
      )
      most.set({ budget }, Math.max(0, ...kept.map(one => one.most)))
    }
  })
}
