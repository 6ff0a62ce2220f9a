import { WorkerClient } from '@tandem/base/worker/worker-client.ts'
import type { TestMethods } from './test-worker.ts'

/* Process with nothing but a worker: it lives as long as the call is pending, and ends although the worker does not. */
const client = new WorkerClient<TestMethods>({ name: 'test', url: new URL('./test-worker.ts', import.meta.url) })
void client.call('later', 20).then(value => process.stdout.write(`answered ${value}`))
