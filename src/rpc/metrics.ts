import type { Metrics } from '../metrics/registry.ts'

/** What the router tells of each request; two clock reads and an array increment at most. */
export interface RpcMetrics {
  /** Milliseconds, monotonic. */
  start(): number
  end(method: string, startedMs: number, ok: boolean): void
}

export const noMetrics: RpcMetrics = { start: () => 0, end: () => {} }

/** Per-method latency and failures. Methods unknown to the table never reach here, so the labels are bounded. */
export const createRpcMetrics = (metrics: Metrics): RpcMetrics => {
  const latency = metrics.histogram({
    name: 'rpc_request_seconds',
    help: 'Time from envelope to answer of one call',
    labels: ['method'],
  })
  const failures = metrics.counter({
    name: 'rpc_failures_total',
    help: 'Calls answered with an error',
    labels: ['method'],
  })
  const children = new Map<string, { observe(seconds: number): void }>()
  return {
    start: () => performance.now(),
    end(method, startedMs, ok) {
      let child = children.get(method)
      if (child === undefined) {
        child = latency.labels(method)
        children.set(method, child)
      }
      child.observe((performance.now() - startedMs) / 1_000)
      if (!ok) failures.inc({ method })
    },
  }
}
