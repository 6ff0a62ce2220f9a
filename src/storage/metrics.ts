/** Plain counters of one Store handle; the node's registry reads them when it is scraped. */
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
