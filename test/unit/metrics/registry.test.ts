import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test, vi } from 'vitest'
import { startMetricsServer } from '../../../src/metrics/metrics-server.ts'
import { collectProcessMetrics } from '../../../src/metrics/process-metrics.ts'
import { Metrics } from '../../../src/metrics/registry.ts'

test('counter, gauge and histogram in Prometheus text', async () => {
  const metrics = new Metrics()
  metrics.counter({ name: 'pool_drops_total', help: 'Dropped', labels: ['reason'] }).inc({ reason: 'stale' }, 2)
  metrics.gauge({ name: 'chain_head_number', help: 'Head' }).set(7)
  metrics.histogram({ name: 'rpc_request_seconds', help: 'Latency', buckets: [0.1, 1] }).observe(0.5)
  const text = await metrics.render()
  expect(text).toContain(
    '# HELP pool_drops_total Dropped\n# TYPE pool_drops_total counter\npool_drops_total{reason="stale"} 2\n',
  )
  expect(text).toContain('chain_head_number 7\n')
  expect(text).toContain('rpc_request_seconds_bucket{le="0.1"} 0\nrpc_request_seconds_bucket{le="1"} 1\n')
})

test('a gauge may be read at the scrape, one with labels through onScrape', async () => {
  const metrics = new Metrics()
  let value = 1
  metrics.readGauge('pool_pending_transactions', 'x', () => value)
  const peers = metrics.gauge({ name: 'network_connected_peers', help: 'x', labels: ['direction'] })
  metrics.onScrape(() => peers.set({ direction: 'in' }, value))
  expect(await metrics.render()).toContain('pool_pending_transactions 1\n')
  value = 2
  const text = await metrics.render()
  expect(text).toContain('pool_pending_transactions 2\n')
  expect(text).toContain('network_connected_peers{direction="in"} 2\n')
})

test('names are <part>_<thing>_<unit>, and declared once', () => {
  const metrics = new Metrics()
  for (const name of [
    'seconds',
    'Pool_wait_seconds',
    'pool-wait_seconds',
    'pool_wait',
    'pool__seconds',
    'pool_wait_ms',
  ]) {
    expect(() => metrics.gauge({ name, help: 'x' }), name).toThrow('metric name')
  }
  expect(() => metrics.counter({ name: 'pool_wait_seconds', help: 'x' })).toThrow('must end in one of total')
  expect(() => metrics.gauge({ name: 'pool_wait_total', help: 'x' })).toThrow('must end in')
  metrics.gauge({ name: 'pool_wait_seconds', help: 'x' })
  expect(() => metrics.gauge({ name: 'pool_wait_seconds', help: 'x' })).toThrow('already been registered')
})

test('two registries know nothing of each other', async () => {
  const [a, b] = [new Metrics(), new Metrics()]
  a.gauge({ name: 'pool_wait_seconds', help: 'x' })
  b.gauge({ name: 'pool_wait_seconds', help: 'x' })
  expect(await b.render()).toContain('pool_wait_seconds 0\n')
})

test('process metrics: memory, CPU, and a blocked thread shows as delay', async () => {
  const metrics = new Metrics()
  const stop = collectProcessMetrics(metrics, '1.2.3')
  try {
    await new Promise(resolve => setTimeout(resolve, 30))
    const until = performance.now() + 120
    while (performance.now() < until);
    await new Promise(resolve => setTimeout(resolve, 30))
    const values = valuesOf(await metrics.render())
    expect(values.get(`process_build_info{version="1.2.3",node="${process.version}"}`)).toBe(1)
    expect(values.get('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
    expect(values.get('process_cpu_user_seconds')).toBeGreaterThan(0.05)
    const longest = values.get('process_event_loop_delay_seconds{quantile="1"}')
    expect(longest).toBeGreaterThan(0.08)
    expect(values.get('process_event_loop_busy_ratio')).toBeGreaterThan(0)
    const again = valuesOf(await metrics.render())
    expect(again.get('process_event_loop_delay_seconds{quantile="1"}')).toBeLessThan(longest as number)
  } finally {
    stop()
  }
})

test('without /proc the resident set is no number, and the others are there', async () => {
  const metrics = new Metrics()
  const stop = collectProcessMetrics(metrics, '1.2.3')
  const rss = vi.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
    throw new Error('ENOENT: no such file or directory, uv_resident_set_memory')
  })
  try {
    const values = valuesOf(await metrics.render())
    expect(values.get('process_resident_memory_bytes')).toBeNaN()
    expect(values.get('process_heap_used_bytes')).toBeGreaterThan(1_000_000)
    expect(values.get('process_heap_total_bytes')).toBeGreaterThan(1_000_000)
    expect(values.get('process_external_memory_bytes')).toBeGreaterThan(10_000)
  } finally {
    rss.mockRestore()
    stop()
  }
})

test('the server answers /metrics and nothing else, and gives its port back', async () => {
  const metrics = new Metrics()
  metrics.gauge({ name: 'chain_head_number', help: 'Head' }).set(7)
  const options = { metrics, host: '127.0.0.1', port: 0, logger: silentLogger }
  const server = await startMetricsServer(options)
  const answer = await fetch(server.url)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(await answer.text()).toContain('chain_head_number 7')
  expect((await fetch(`${server.url}?x=1`)).status).toBe(200)
  expect((await fetch(server.url, { method: 'POST', body: 'x' })).status).toBe(405)
  expect((await fetch(new URL('/', server.url))).status).toBe(404)
  await expect(startMetricsServer({ ...options, port: server.port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await server.close()
  const second = await startMetricsServer({ ...options, port: server.port })
  await second.close()
})

const valuesOf = (text: string): Map<string, number> =>
  new Map(
    text
      .split('\n')
      .filter(line => line !== '' && !line.startsWith('#'))
      .map(line => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
