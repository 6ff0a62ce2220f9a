import { threadsLoaded } from '@tandem/base/worker/loading-threads.ts'
import { WorkerClient } from '@tandem/base/worker/worker-client.ts'
import type { SlowMethods } from './slow-worker.ts'

/* Process that ends itself while the script of a worker loads. */
const shared = new SharedArrayBuffer(4)
const url = new URL('./slow-worker.ts', import.meta.url)
const client = new WorkerClient<SlowMethods>({ name: 'slow', url, data: shared })
client.call('echo', 1).catch(() => {})
await Atomics.waitAsync(new Int32Array(shared), 0, 0).value
if (process.argv[2] !== 'at-once') await threadsLoaded()
process.stdout.write('done', () => process.exit())
