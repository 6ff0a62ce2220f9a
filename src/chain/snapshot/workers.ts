import { WorkerClient } from '@tandem/base/worker/worker-client.ts'
import { WORKER_LIMITS } from '../../config/limits/execution.ts'
import type { Store } from '../../storage/store.ts'
import type { HistoryMethods } from './backfill/history-worker.ts'
import type { SnapshotWorkerMethods } from './store/snapshot-worker.ts'
import type { ChainIdentity } from './sync/staging.ts'
import type { StagingMethods } from './sync/staging-worker.ts'

const limits = { maxYoungGenerationSizeMb: WORKER_LIMITS.nurseryMegabytes }

/** Starts the worker that writes snapshots of this store's state to the folder `root`. */
export const startSnapshotWorker = (store: Pick<Store, 'share'>, root: string): WorkerClient<SnapshotWorkerMethods> => {
  const url = new URL('./store/snapshot-worker.ts', import.meta.url)
  return new WorkerClient({ name: 'snapshots', url, data: { store: store.share(), root }, limits, hasStore: true })
}

/** Starts the worker that imports a snapshot into a separate store. */
export const startStagingWorker = (storePath: string, identity: ChainIdentity): WorkerClient<StagingMethods> => {
  const url = new URL('./sync/staging-worker.ts', import.meta.url)
  return new WorkerClient({ name: 'staging', url, data: { storePath, identity }, limits, hasStore: true })
}

/** Starts the worker that stores the blocks before a snapshot. */
export const startHistoryWorker = (store: Store): WorkerClient<HistoryMethods> => {
  const url = new URL('./backfill/history-worker.ts', import.meta.url)
  return new WorkerClient({
    ...{ name: 'history', url, data: store.share(), limits, hasStore: true },
    onEnd: () => store.writerEnded(),
  })
}
