import { LIMITS } from '../../config/limits.ts'
import { Thread } from '../../util/worker/worker-thread.ts'
import type { HistoryMethods } from './backfill/history-worker.ts'
import type { MakeMethods } from './store/snapshot-worker.ts'
import type { ChainIdentity } from './sync/staging.ts'
import type { StagingMethods } from './sync/staging-worker.ts'

const options = <Data>(workerData: Data) => ({
  workerData,
  resourceLimits: { maxYoungGenerationSizeMb: LIMITS.workers.nurseryMegabytes },
})

/** Writes snapshots of the state of this store to the folder `root`. */
export const startMaker = (storePath: string, root: string): Thread<MakeMethods> =>
  new Thread('snapshots', new URL('./store/snapshot-worker.ts', import.meta.url), options({ storePath, root }))

/** Takes a snapshot into a store of its own. */
export const startStaging = (storePath: string, identity: ChainIdentity): Thread<StagingMethods> =>
  new Thread('staging', new URL('./sync/staging-worker.ts', import.meta.url), options({ storePath, identity }))

/** Stores the blocks before a snapshot. */
export const startHistory = (storePath: string): Thread<HistoryMethods> =>
  new Thread('history', new URL('./backfill/history-worker.ts', import.meta.url), options({ storePath }))
