import { monitorEventLoopDelay, PerformanceObserver, performance } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { Metrics } from './registry.ts'

const NANOSECONDS = 1e9
const QUANTILES = [0.5, 0.99, 1] as const

/** Measures memory, CPU, garbage collection and event-loop delay of this process; returns the function that stops it. */
export const collectProcessMetrics = (metrics: Metrics, version: string): (() => void) => {
  metrics
    .gauge({ name: 'process_build_info', help: 'Always 1; the version is the label', labels: ['version', 'node'] })
    .set({ version, node: process.version }, 1)
  metrics.readGauge('process_uptime_seconds', 'Time since the process started', () => process.uptime())
  memory(metrics)
  cpu(metrics)
  const stopDelay = eventLoopDelay(metrics)
  const stopGc = garbageCollection(metrics)
  return () => {
    stopDelay()
    stopGc()
  }
}

const memory = (metrics: Metrics): void => {
  const read = (field: 'used_heap_size' | 'total_heap_size' | 'external_memory') => () => getHeapStatistics()[field]
  const residentSet = (): number => {
    try {
      return process.memoryUsage.rss()
    } catch {
      // Linux tells it in /proc, which a root may lack.
      return Number.NaN
    }
  }
  metrics.readGauge('process_resident_memory_bytes', 'Resident set', residentSet)
  metrics.readGauge('process_heap_used_bytes', 'JavaScript heap in use', read('used_heap_size'))
  metrics.readGauge('process_heap_total_bytes', 'JavaScript heap reserved', read('total_heap_size'))
  metrics.readGauge('process_external_memory_bytes', 'Memory outside the heap held by objects', read('external_memory'))
}

const cpu = (metrics: Metrics): void => {
  const usage = (field: 'user' | 'system') => () => process.cpuUsage()[field] / 1e6
  metrics.readGauge('process_cpu_user_seconds', 'CPU time in user mode since the start', usage('user'))
  metrics.readGauge('process_cpu_system_seconds', 'CPU time in the kernel since the start', usage('system'))
  let last = performance.eventLoopUtilization()
  metrics.readGauge(
    'process_event_loop_busy_ratio',
    'Share of the time since the last scrape in which the main thread was busy',
    () => {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, last)
      last = now
      return utilization
    },
  )
}

/** Delay of timers on the main thread: the first sign that something blocks consensus. Reset at each scrape. */
const eventLoopDelay = (metrics: Metrics): (() => void) => {
  const resolutionMs = 10
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs })
  histogram.enable()
  const gauge = metrics.gauge({
    name: 'process_event_loop_delay_seconds',
    help: 'Delay of the main thread since the last scrape, by quantile; 1 is the longest',
    labels: ['quantile'],
  })
  metrics.onScrape(() => {
    for (const quantile of QUANTILES) {
      const measured = histogram.count === 0 ? 0 : histogram.percentile(quantile * 100) / NANOSECONDS
      // The histogram measures the whole interval between two ticks, of which the resolution itself is not a delay.
      gauge.set({ quantile: String(quantile) }, Math.max(0, measured - resolutionMs / 1e3))
    }
    histogram.reset()
  })
  return () => histogram.disable()
}

const garbageCollection = (metrics: Metrics): (() => void) => {
  const pauses = metrics.histogram({
    name: 'process_garbage_collection_seconds',
    help: 'Pauses of the garbage collector',
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
  })
  const observer = new PerformanceObserver(list => {
    for (const entry of list.getEntries()) pauses.observe(entry.duration / 1e3)
  })
  observer.observe({ entryTypes: ['gc'] })
  return () => observer.disconnect()
}
