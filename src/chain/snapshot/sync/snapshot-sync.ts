import { waitUntil } from '@tandem/base/async/delay.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { SNAPSHOT_LIMITS } from '../../../config/limits/sync.ts'
import { isStoreError } from '../../../storage/errors.ts'
import type { SyncStatus } from '../../store/types.ts'
import { syncTarget } from '../../sync/sync-target.ts'
import { storedManifest, type ValidManifest } from './choose-snapshot.ts'
import { SnapshotDownload } from './snapshot-download.ts'
import { SnapshotSelector, type SnapshotSyncOptions } from './snapshot-selector.ts'

/** `ready`: the staged store is a chain. `none`: no snapshot is available, so the node syncs by blocks. */
export type SnapshotOutcome = 'ready' | 'none' | 'stopped'

/**
 * Syncs a new node to the state of a block of which peers have a snapshot (docs/decisions.md#0022-snapshot-sync): the block is proven to be
 * part of the chain before anything is fetched or a peer blamed; then the data is fetched in an order in which each piece can be verified,
 * and imported by a worker that keeps its progress over restarts.
 */
export class SnapshotSync {
  readonly #options: SnapshotSyncOptions
  readonly #selector: SnapshotSelector
  readonly #download: SnapshotDownload
  /** Imported chunks of the staged snapshot at its last failure. */
  #doneBefore = 0
  readonly #stopping = new AbortController()
  /** Why the outcome is `none`, for the log. */
  reason = ''

  constructor(options: SnapshotSyncOptions) {
    this.#options = options
    this.#selector = new SnapshotSelector(options)
    this.#download = new SnapshotDownload(options, this.#selector, this.#stopping.signal)
  }

  get status(): SyncStatus | false {
    return this.#download.progress?.status(this.#target()) ?? false
  }

  /** Resolves when the sync has ended; called once. */
  async run(): Promise<SnapshotOutcome> {
    const { staging, logger } = this.#options
    const { isWhole } = await staging.call('progress')
    if (isWhole) return 'ready'
    let begun = await this.#staged()
    if (!(await this.#peersAhead(begun !== undefined)))
      return this.#isStopped ? 'stopped' : this.#none('no connected peer is ahead of this node')
    for (let attempt = 1; !this.#isStopped; attempt++) {
      try {
        const sound = begun ?? (await this.#selector.choose())
        // The node's own chain has meanwhile passed the snapshot's block.
        if (sound !== undefined && sound.header.number <= this.#options.head())
          return this.#none('this node has passed the block of the snapshot')
        if (sound !== undefined) {
          await this.#download.run(sound, begun !== undefined)
          return 'ready'
        }
      } catch (error) {
        if (this.#isStopped) break
        if (!isCoded(error) || isStoreError(error)) throw error
        logger.warn({ err: error, attempt }, 'snapshot incomplete')
        if (error.code === 'ANCHOR_TOO_OLD') return this.#none('the trusted block is too old: give --checkpoint')
        const kept = await this.#kept(error.code === 'SNAPSHOT_GONE')
        if (begun !== undefined && kept === undefined) attempt = 0
        begun = kept
      }
      if (begun === undefined && attempt >= SNAPSHOT_LIMITS.attempts)
        return this.#none(
          `no peer offers a snapshot that can be used: nodes make one each --snapshot-interval, rounded up to cycles of ${this.#cycleBlocks} blocks`,
        )
      await this.#pause(Math.min(attempt, SNAPSHOT_LIMITS.pauses) * SNAPSHOT_LIMITS.retryMs)
    }
    return 'stopped'
  }

  stop(): void {
    this.#stopping.abort()
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  #none(reason: string): 'none' {
    this.reason = reason
    return 'none'
  }

  get #cycleBlocks(): number {
    return this.#options.identity.params.rewards.cycleBlocks
  }

  /** Returns the snapshot begun by an earlier run; one of another format is deleted. */
  async #staged(): Promise<ValidManifest | undefined> {
    const { staging } = this.#options
    const { manifest } = await staging.call('progress')
    if (manifest === null) return undefined
    const sound = storedManifest(manifest)
    if (sound === undefined) await staging.call('reset')
    return sound
  }

  /** Returns the staged snapshot, unless it is unusable, or others are offered and it made no progress: then it is deleted. */
  async #kept(isGone: boolean): Promise<ValidManifest | undefined> {
    const { staging, logger } = this.#options
    const staged = await this.#staged()
    if (staged === undefined) return undefined
    const offered = isGone ? [] : await this.#selector.offered()
    const same = offered.find(({ id }) => id === staged.id)
    const { done } = await staging.call('progress')
    const isStalled = done.length <= this.#doneBefore
    this.#doneBefore = done.length
    const isWanted = same !== undefined && (!isStalled || offered.length === 1)
    if (!isGone && (isWanted || offered.length === 0)) return same ?? staged
    // A snapshot whose providers deliver nothing must not be chosen again.
    if (same !== undefined) this.#selector.refuse(staged.id)
    this.#doneBefore = 0
    logger.info({ number: staged.header.number }, 'snapshot abandoned for a newer one')
    await staging.call('reset')
    return undefined
  }

  /** Waits until a peer is ahead; not for long without a staged snapshot: the chain may be as new as the node. */
  async #peersAhead(isBegun: boolean): Promise<boolean> {
    const { clock, head } = this.#options
    const untilMs = clock.nowMs() + SNAPSHOT_LIMITS.patienceMs
    while (!this.#isStopped) {
      if (this.#target() > head()) return true
      if (!isBegun && (head() > 0 || clock.nowMs() >= untilMs)) return false
      await this.#pause(SNAPSHOT_LIMITS.lookMs)
    }
    return false
  }

  #target(): number {
    const { network, head } = this.#options
    return syncTarget(
      network.peers().map(peer => peer.head.number),
      head(),
    )
  }

  #pause(ms: number): Promise<void> {
    const { clock } = this.#options
    return waitUntil(clock, clock.nowMs() + ms, this.#stopping.signal)
  }
}
