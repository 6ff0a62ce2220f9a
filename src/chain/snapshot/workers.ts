import { WORKER_LIMITS } from '../../config/limits/execution.ts'
import { WorkerThread } from '../../util/worker/worker-thread.ts'
import type { HistoryMethods } from './backfill/history-worker.ts'
import type { ChainIdentity } from './staged-council.ts'
import type { SnapshotWorkerMethods } from './store/snapshot-worker.ts'
import type { StagingMethods } from './sync/staging-worker.ts'

const options = <Data>(workerData: Data) => ({
  workerData,
  resourceLimits: { maxYoungGenerationSizeMb: WORKER_LIMITS.nurseryMegabytes },
})

/** Starts the worker that writes snapshots of this store's state to the folder `root`. */
export const startSnapshotWorker = (storePath: string, root: string): WorkerThread<SnapshotWorkerMethods> =>
  new WorkerThread('snapshots', new URL('./store/snapshot-worker.ts', import.meta.url), options({ storePath, root }))

/** Starts the worker that imports a snapshot into a separate store. */
export const startStagingWorker = (storePath: string, identity: ChainIdentity): WorkerThread<StagingMethods> =>
  new WorkerThread('staging', new URL('./sync/staging-worker.ts', import.meta.url), options({ storePath, identity }))

/** Starts the worker that stores the blocks before a snapshot. */
export const startHistoryWorker = (storePath: string): WorkerThread<HistoryMethods> =>
  new WorkerThread('history', new URL('./backfill/history-worker.ts', import.meta.url), options({ storePath }))
