import { isDiskError } from '@tandem/base/errors.ts'
import type { SnapshotSyncOptions } from '../../chain/snapshot/sync/snapshot-selector.ts'
import { type SnapshotOutcome, SnapshotSync } from '../../chain/snapshot/sync/snapshot-sync.ts'
import { startStagingWorker } from '../../chain/snapshot/workers.ts'
import type { SyncStatus } from '../../chain/store/types.ts'
import { recoverAddress } from '../../crypto/signature.ts'
import { isStoreError } from '../../storage/errors.ts'
import { dropStaged, markStaged, stagedPathOf } from './staged-store.ts'

interface BootstrapOptions
  extends Pick<SnapshotSyncOptions, 'network' | 'identity' | 'checkpoint' | 'head' | 'clock' | 'logger'> {
  readonly dataDir: string
  readonly genesis: () => Promise<SnapshotSyncOptions['genesis']>
  readonly onSnapshot: () => void
  readonly onFatal: (error: Error) => void
}

/** Start of a node that imports a snapshot: manages the staged store, its worker and the outcome. */
export const createSnapshotBootstrap = (options: BootstrapOptions) => {
  const { dataDir, identity, onSnapshot, onFatal, logger } = options
  let snapshotSync: SnapshotSync | undefined
  let running: Promise<void> | undefined
  let isStopped = false

  const run = async (goOn: () => void): Promise<void> => {
    const outcome = await take()
    if (outcome === 'stopped' || isStopped) return
    if (outcome === 'ready') {
      await markStaged(dataDir)
      onSnapshot()
      return
    }
    await dropStaged(dataDir)
    logger.warn({ reason: snapshotSync?.reason }, 'no snapshot available, fetching every block')
    snapshotSync = undefined
    goOn()
  }

  const take = async (): Promise<SnapshotOutcome> => {
    const staging = startStagingWorker(stagedPathOf(dataDir), identity)
    try {
      const domain = { chainId: identity.params.chainId, genesisHash: identity.genesisHash }
      const rules = { domain, recover: recoverAddress }
      snapshotSync = new SnapshotSync({ ...options, staging, rules, genesis: await options.genesis() })
      if (isStopped) return 'stopped'
      const outcome = await snapshotSync.run()
      await staging.call('close')
      return outcome
    } finally {
      await staging.close()
    }
  }

  return {
    get status(): SyncStatus | false {
      return snapshotSync?.status ?? false
    },

    /** `goOn` is called when no snapshot is available, or it fails. */
    start(goOn: () => void): void {
      running = run(goOn).catch((error: unknown) => {
        if (isStopped) return
        if (isDiskError(error) || (isStoreError(error) && error.code === 'STORE_WRITE_FAILED')) {
          onFatal(error as Error)
          return
        }
        logger.error({ err: error }, 'snapshot sync failed')
        goOn()
      })
    },

    /** Called before the network stops, so that nothing is requested again. */
    stop(): Promise<void> {
      isStopped = true
      snapshotSync?.stop()
      return running ?? Promise.resolve()
    },
  }
}

export type SnapshotBootstrap = ReturnType<typeof createSnapshotBootstrap>
