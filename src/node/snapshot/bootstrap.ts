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
export class SnapshotBootstrap {
  readonly #options: BootstrapOptions
  #sync: SnapshotSync | undefined
  #running: Promise<void> | undefined
  #isStopped = false

  constructor(options: BootstrapOptions) {
    this.#options = options
  }

  get status(): SyncStatus | false {
    return this.#sync?.status ?? false
  }

  /** `goOn` is called when no snapshot is available, or it fails. */
  start(goOn: () => void): void {
    const { logger, onFatal } = this.#options
    this.#running = this.#run(goOn).catch((error: unknown) => {
      if (this.#isStopped) return
      if (isDiskError(error) || (isStoreError(error) && error.code === 'STORE_WRITE_FAILED')) {
        onFatal(error as Error)
        return
      }
      logger.error({ err: error }, 'snapshot sync failed')
      goOn()
    })
  }

  /** Called before the network stops, so that nothing is requested again. */
  stop(): Promise<void> {
    this.#isStopped = true
    this.#sync?.stop()
    return this.#running ?? Promise.resolve()
  }

  async #run(goOn: () => void): Promise<void> {
    const { dataDir, logger, onSnapshot } = this.#options
    const outcome = await this.#take(dataDir)
    if (outcome === 'stopped' || this.#isStopped) return
    if (outcome === 'ready') {
      await markStaged(dataDir)
      onSnapshot()
      return
    }
    await dropStaged(dataDir)
    logger.warn({ reason: this.#sync?.reason }, 'no snapshot available, fetching every block')
    this.#sync = undefined
    goOn()
  }

  async #take(dataDir: string): Promise<SnapshotOutcome> {
    const { identity, genesis, ...rest } = this.#options
    const staging = startStagingWorker(stagedPathOf(dataDir), identity)
    try {
      const domain = { chainId: identity.params.chainId, genesisHash: identity.genesisHash }
      const rules = { domain, recover: recoverAddress }
      this.#sync = new SnapshotSync({ ...rest, identity, staging, rules, genesis: await genesis() })
      if (this.#isStopped) return 'stopped'
      const outcome = await this.#sync.run()
      await staging.call('close')
      return outcome
    } finally {
      await staging.close()
    }
  }
}
