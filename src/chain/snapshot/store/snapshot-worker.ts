import { serveWorker, workerStartData } from '@tandem/base/worker/serve-worker.ts'
import { Store, type StoreHandle } from '../../../storage/store.ts'
import { writeSnapshot } from './write-snapshot.ts'

/* Worker thread that makes snapshots, which takes minutes of reading and hashing on large states. */
const { store: handle, root } = workerStartData<{ readonly store: StoreHandle; readonly root: string }>()

const methodsOf = (store: Store) => ({
  make: (number: number, inUse: readonly number[]) => writeSnapshot(store, root, number, inUse),
})
export type SnapshotWorkerMethods = ReturnType<typeof methodsOf>

void Store.attach(handle).then(store => serveWorker<SnapshotWorkerMethods>(methodsOf(store)))
