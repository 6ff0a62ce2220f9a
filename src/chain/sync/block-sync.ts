import { isCoded } from '@tandem/base/errors.ts'
import { SYNC_LIMITS } from '../../config/limits/sync.ts'
import type { SealedBlock } from '../../network/messages/consensus-messages.ts'
import type { BlockAnnouncement } from '../../network/messages/sync-messages.ts'
import type { SyncStatus } from '../store/types.ts'
import { decodeFetchedBlocks, type FetchedBlocks } from './fetch-blocks.ts'
import { SyncPeers } from './sync-peers.ts'
import { type BlockSyncOptions, SyncRun } from './sync-run.ts'
import { provenHead, syncTarget } from './sync-target.ts'

/** Block sync (docs/design/network.md#block-sync): runs fetch what peers are ahead; a member a few blocks behind is left to the engine. */
export class BlockSync {
  readonly #options: BlockSyncOptions
  readonly #syncPeers: SyncPeers
  #run: SyncRun | undefined
  #ending: Promise<void> = Promise.resolve()
  #isReading = false
  #isStopped = false
  #cancelTick = () => {}
  #cancelNext = () => {}
  /** Last head seen, and the time since when it is unchanged. */
  #seen = { number: -1, sinceMs: 0 }
  #notBeforeMs = 0

  constructor(options: BlockSyncOptions) {
    this.#options = options
    this.#syncPeers = new SyncPeers()
  }

  get status(): SyncStatus | false {
    return this.#run?.status ?? false
  }

  /** Height to sync to by the heads of the peers that count; undefined while there is none. */
  get target(): number | undefined {
    const { network, head, clock } = this.#options
    const claims = this.#syncPeers.claims(network.peers(), clock.nowMs())
    return claims.length === 0 ? undefined : syncTarget(claims, head().number)
  }

  /** Target by the heads of members and static peers, or else of peers whose blocks proved final; undefined while there is none. */
  get provenTarget(): number | undefined {
    const { network, head, clock } = this.#options
    const peers = network.peers()
    const claimsOf = (proven: typeof peers) => this.#syncPeers.claims(proven, clock.nowMs())
    const trusted = claimsOf(peers.filter(({ place }) => place === 'reserved'))
    const delivered = claimsOf(peers.filter(({ id }) => this.#syncPeers.hasDelivered(id)))
    return provenHead(trusted, delivered, head().number)
  }

  /** Starts following the peers' heads; the engine must run. */
  start(): void {
    const { clock } = this.#options
    this.consider()
    this.#cancelTick = clock.schedule(clock.nowMs() + SYNC_LIMITS.tickMs, () => this.start())
  }

  /** Resolves when no import is running. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelTick()
    this.#run?.stop()
    await this.#ending
    this.#cancelNext()
  }

  /** Checks the peers' heads; cheap. */
  consider(): void {
    if (this.#isStopped) return
    if (this.#run !== undefined) this.#run.look()
    else if (this.#isDue()) this.#begin()
  }

  /** Handles a pushed block: the one after the head is verified and adopted at once; any other only shows its sender's height. */
  async pushed({ number, ...sealed }: BlockAnnouncement & SealedBlock, from: string): Promise<void> {
    const { network, committees, rules, pause, isMember, clock, logger } = this.#options
    const isWanted = () => !this.#isStopped && number === this.#next && !isMember()
    // One at a time, and none from a peer on hold.
    if (!isWanted() || this.#isReading || !this.#syncPeers.counts(from, clock.nowMs())) return this.consider()
    this.#isReading = true
    try {
      const fetchedBlocks = await decodeFetchedBlocks(network, [sealed], {
        from,
        first: number,
        rules: { ...rules, committees },
        pause,
      })
      if (!isWanted()) return
      if (this.#run === undefined) this.#begin(fetchedBlocks)
      else this.#run.offer(fetchedBlocks)
    } catch (error) {
      if (!isCoded(error)) throw error
      logger.warn({ peer: from, err: error }, 'peer sent an invalid block')
    } finally {
      this.#isReading = false
    }
  }

  /** Height of the next import. */
  get #next(): number {
    return 1 + Math.max(this.#run?.head ?? 0, this.#options.head().number)
  }

  #begin(offered?: FetchedBlocks): void {
    const { clock, logger } = this.#options
    const startedMs = clock.nowMs()
    const run = new SyncRun(this.#options, this.#syncPeers)
    if (offered !== undefined) run.offer(offered)
    this.#run = run
    this.#notBeforeMs = startedMs + SYNC_LIMITS.spacingMs
    this.#ending = run
      .finish()
      .catch((error: unknown) => {
        this.#notBeforeMs = clock.nowMs() + SYNC_LIMITS.pauseMs
        // The engine has reported its own failure; its end need not be logged again.
        if (!isCoded(error) || error.code !== 'ENGINE_STOPPED') logger.warn({ err: error }, 'catching up failed')
      })
      .finally(() => {
        this.#run = undefined
        // More blocks may have arrived during the last imports.
        this.#cancelNext()
        this.#cancelNext = clock.schedule(this.#notBeforeMs, () => this.consider())
      })
  }

  #isDue(): boolean {
    const { head, isMember, network, clock } = this.#options
    const { number } = head()
    const nowMs = clock.nowMs()
    if (number !== this.#seen.number) this.#seen = { number, sinceMs: nowMs }
    if (nowMs < this.#notBeforeMs) return false
    const behind = syncTarget(this.#syncPeers.claims(network.peers(), nowMs), number) - number
    const isPatient = this.#seen.sinceMs + SYNC_LIMITS.patienceMs > nowMs
    return behind > (isPatient && isMember() ? SYNC_LIMITS.nearBlocks : 0)
  }
}
