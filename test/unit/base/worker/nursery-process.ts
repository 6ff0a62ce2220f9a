import { getHeapSpaceStatistics } from 'node:v8'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { useNurseryLimits } from '@tandem/base/worker/nursery.ts'

/* Prints the size of the young generation after much garbage, of this thread and of a worker whose limit is 4 MB. */

const nurseryBytes = (): number => {
  const kept: unknown[] = []
  let most = 0
  for (let i = 0; i < 4_000_000; i++) {
    kept[i % 100_000] = { i, list: [i] }
    if (i % 100_000 > 0) continue
    const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    most = Math.max(most, space?.space_size ?? 0)
  }
  return most
}

if (isMainThread) {
  useNurseryLimits()
  const worker = new Worker(new URL(import.meta.url), { resourceLimits: { maxYoungGenerationSizeMb: 4 } })
  worker.once('message', bytes => process.stdout.write(JSON.stringify({ main: nurseryBytes(), worker: bytes })))
} else parentPort?.postMessage(nurseryBytes())
