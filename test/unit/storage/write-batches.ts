import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { BUCKETS } from '../../../src/storage/buckets.ts'
import { numberKey } from '../../../src/storage/keys.ts'
import { Store } from '../../../src/storage/store.ts'

/* Program of tests: two threads write numbered batches, whatever fails, and it prints the numbers of those that were acknowledged. */

const BATCHES = 200
const VALUE = new Uint8Array(3_000)

const writeAll = async (store: Store, begin: number): Promise<readonly number[]> => {
  const acknowledged: number[] = []
  await Promise.all(
    Array.from({ length: BATCHES }, async (_, index) => {
      await new Promise(resolve => setTimeout(resolve, index / 2))
      const batch = store.batch()
      try {
        // Rows of an odd batch are as durable as those of the next even one.
        await batch.put(BUCKETS.code, numberKey(begin + index), VALUE).write({ sync: index % 2 === 0 })
        acknowledged.push(begin + index)
      } catch {
        batch[Symbol.dispose]()
      }
    }),
  )
  await store.flush().catch(() => {})
  return acknowledged
}

if (isMainThread) {
  const store = await Store.open(process.argv[2] as string, {
    onWriteFailed: error => process.stderr.write(`${error.message}\n`),
  })
  const worker = new Worker(new URL(import.meta.url), { workerData: store.share() })
  const [own, [others]] = await Promise.all([writeAll(store, 0), once(worker, 'message')])
  await store.close()
  process.stdout.write(JSON.stringify([...own, ...others]))
} else {
  const store = await Store.attach(workerData)
  const acknowledged = await writeAll(store, BATCHES)
  await store.close()
  parentPort?.postMessage(acknowledged)
}
