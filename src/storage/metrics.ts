import type { MemoryShares } from '../config/limits/storage.ts'
import type { Metrics } from '../metrics/registry.ts'

/** Counters of one Store handle. */
export interface StoreCounters {
  reads: number
  batches: number
  batchRows: number
  batchSeconds: number
  writeFailures: number
}

export const newStoreCounters = (): StoreCounters => ({
  reads: 0,
  batches: 0,
  batchRows: 0,
  batchSeconds: 0,
  writeFailures: 0,
})

const HELP: Readonly<Record<keyof StoreCounters, readonly [name: string, help: string]>> = {
  reads: ['storage_row_reads_total', 'Rows looked up by this thread'],
  batches: ['storage_batch_writes_total', 'Batches written'],
  batchRows: ['storage_row_writes_total', 'Rows put or deleted'],
  batchSeconds: ['storage_batch_write_seconds_total', 'Time spent waiting for batches to reach the disk'],
  writeFailures: ['storage_write_failures_total', 'Batches the disk refused; the node stops at the first'],
}

/** Declares the memory that each part of the stored data may take. */
export const declareMemoryMetrics = (metrics: Metrics, shares: MemoryShares): void => {
  const gauge = metrics.gauge({
    name: 'storage_memory_share_bytes',
    help: 'Memory that a part of the stored data is sized by (--memory)',
    labels: ['part'],
  })
  for (const [part, bytes] of Object.entries(shares)) gauge.set({ part }, bytes)
}

/** Declares a store's counters, copied at each scrape. */
export const declareStorageMetrics = (metrics: Metrics, store: { readonly counters: StoreCounters }): void => {
  const seen = newStoreCounters()
  const declared = Object.entries(HELP).map(([key, [name, help]]) => {
    return { key: key as keyof StoreCounters, counter: metrics.counter({ name, help }) }
  })
  metrics.onScrape(() => {
    for (const { key, counter } of declared) {
      counter.inc(store.counters[key] - seen[key])
      seen[key] = store.counters[key]
    }
  })
}
