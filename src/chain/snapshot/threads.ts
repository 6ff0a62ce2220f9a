import { LIMITS } from '../../config/limits.ts'
import { Thread } from '../../util/thread.ts'
import type { HistoryMethods } from './history-worker.ts'
import type { MakeMethods } from './make-worker.ts'
import type { ChainIdentity } from './staging.ts'
import type { StagingMethods } from './staging-worker.ts'

const options = <Data>(workerData: Data) => ({
  workerData,
  resourceLimits: { maxYoungGenerationSizeMb: LIMITS.workers.nurseryMegabytes },
})

/** Writes snapshots of the state of this store to the folder `root`. */
export const startMaker = (storePath: string, root: string): Thread<MakeMethods> =>
  new Thread('snapshots', new URL('./make-worker.ts', import.meta.url), options({ storePath, root }))

/** Takes a snapshot into a store of its own. */
export const startStaging = (storePath: string, identity: ChainIdentity): Thread<StagingMethods> =>
  new Thread('staging', new URL('./staging-worker.ts', import.meta.url), options({ storePath, identity }))

/** Stores the blocks before a snapshot. */
export const startHistory = (storePath: string): Thread<HistoryMethods> =>
  new Thread('history', new URL('./history-worker.ts', import.meta.url), options({ storePath }))
