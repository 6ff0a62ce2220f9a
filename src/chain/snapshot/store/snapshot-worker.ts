import { workerData } from 'node:worker_threads'
import { Store } from '../../../storage/store.ts'
import { serveWorker } from '../../../util/worker/worker-thread.ts'
import { writeSnapshot } from './write-snapshot.ts'

/* Worker thread that makes snapshots, which takes minutes of reading and hashing on large states. */
const { storePath, root } = workerData as { readonly storePath: string; readonly root: string }
const store = await Store.open(storePath, { createIfMissing: false })

const methods = { make: (number: number) => writeSnapshot(store, root, number) }
export type SnapshotWorkerMethods = typeof methods

serveWorker(methods)
