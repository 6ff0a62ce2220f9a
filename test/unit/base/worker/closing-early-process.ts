import { WorkerClient } from '@tandem/base/worker/worker-client.ts'
import type { SlowMethods } from './slow-worker.ts'

/* Process that closes a worker while its script loads. V8 ends a process in which a thread is terminated there. */
const shared = new SharedArrayBuffer(4)
const url = new URL('./slow-worker.ts', import.meta.url)
const client = new WorkerClient<SlowMethods>({ name: 'slow', url, data: shared })
const call = client.call('echo', 1).catch(() => 'closed')
await Atomics.waitAsync(new Int32Array(shared), 0, 0).value
await client.close()
process.stdout.write(`${await call} done`)
