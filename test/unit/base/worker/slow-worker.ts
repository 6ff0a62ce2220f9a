import { serveWorker, workerStartData } from '@tandem/base/worker/serve-worker.ts'
import { isLoaded } from './slow-module.ts'

/* Worker whose script takes a while behind a module that was waited for; it says when, by the shared number. */
const shared = new Int32Array(workerStartData<SharedArrayBuffer>())
Atomics.store(shared, 0, Number(isLoaded))
Atomics.notify(shared, 0)
for (const endMs = performance.now() + 300; performance.now() < endMs; );

export type SlowMethods = { readonly echo: (value: number) => number }
serveWorker<SlowMethods>({ echo: value => value })
