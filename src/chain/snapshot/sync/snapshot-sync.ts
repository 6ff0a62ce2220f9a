import { SNAPSHOT_LIMITS } from '../../../config/limits/sync.ts'
import { COUNCIL_ADDRESS } from '../../../config/networks.ts'
import type { Network } from '../../../network/network.ts'
import { chunksOf, encodeManifest } from '../../../network/wire/snapshot.ts'
import type { Certificate } from '../../../primitives/consensus/certificate.ts'
import { encodeRlpList } from '../../../primitives/rlp/rlp.ts'
import { mintedUpTo } from '../../../rules/money/supply.ts'
import { hashedKey } from '../../../state/flat-tables.ts'
import { delayUntil } from '../../../util/async/delay.ts'
import type { Hex } from '../../../util/bytes.ts'
import type { Clock } from '../../../util/clock.ts'
import { CodedError, isCoded } from '../../../util/errors.ts'
import type { Logger } from '../../../util/logger.ts'
import type { WorkerClient } from '../../../util/worker/worker-client.ts'
import { syncTarget } from '../../sync/sync-target.ts'
import type { SyncStatus } from '../../types.ts'
import type { HistoryTip } from '../backfill/history-rows.ts'
import { type Proof, proveBlock } from '../prove.ts'
import type { ChainIdentity } from '../staged-council.ts'
import { offeredSnapshots, storedManifest, type ValidManifest } from './choose-snapshot.ts'
import { accountChunk, type ChunkRange, storageChunks } from './chunk-places.ts'
import { fetchChunks } from './fetch-chunks.ts'
import { fetchCertificate, fetchCheckpoint, fetchFailed, importHistory } from './fetch-headers.ts'
import {
  type Anchor,
  anchorFromHeader,
  genesisAnchor,
  type TrustError,
  type TrustRules,
} from './skipping-verification.ts'
import { SnapshotProgress } from './snapshot-progress.ts'
import type { GenesisRows, MissingCodes } from './staging.ts'
import type { StagingMethods } from './staging-worker.ts'

/** Block that the operator states to be part of the chain. */
export interface Checkpoint {
  readonly number: number
  readonly hash: Hex
}

export interface SnapshotSyncOptions {
  readonly network: Pick<Network, 'request' | 'reportForgery' | 'peers'>
  /** Worker that imports the snapshot, beside the running node's own store. */
  readonly staging: WorkerClient<StagingMethods>
  readonly identity: ChainIdentity
  /** Genesis as known to this node. */
  readonly genesis: {
    readonly timestamp: number
    readonly validators: readonly Hex[]
    readonly wei: bigint
    readonly rows: GenesisRows
  }
  readonly checkpoint: Checkpoint | undefined
  readonly rules: TrustRules
  /** Head of the running node. */
  readonly head: () => number
  readonly clock: Clock
  readonly logger: Logger
}

/** `ready`: the staged store is a chain. `none`: no snapshot is available, so the node syncs by blocks. */
export type SnapshotOutcome = 'ready' | 'none' | 'stopped'

/** The snapshot proved false, or is unusable: another may work. */
type SnapshotRejected = { readonly code: 'SNAPSHOT_GONE'; readonly number: number; readonly reason: string }

/**
 * Syncs a new node to the state of a block of which peers have a snapshot (docs/decisions/0022-snapshot-sync.md): the block is proven to be
 * part of the chain before anything is fetched or a peer blamed; then the data is fetched in an order in which each piece can be verified,
 * and imported by a worker that keeps its progress over restarts.
 */
export class SnapshotSync {
  readonly #options: SnapshotSyncOptions
  #progress: SnapshotProgress | undefined
  /** Ids of snapshots found false, or not provable. */
  readonly #refused = new Set<Hex>()
  /** Imported chunks of the staged snapshot at its last failure. */
  #doneBefore = 0
  #isStopped = false
  /** Why the outcome is `none`, for the log. */
  reason = ''
  #wake = () => {}

  constructor(options: SnapshotSyncOptions) {
    this.#options = options
  }

  get status(): SyncStatus | false {
    return this.#progress?.status(this.#target()) ?? false
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
        const sound = begun ?? (await this.#choose())
        // The node's own chain has meanwhile passed the snapshot's block.
        if (sound !== undefined && sound.header.number <= this.#options.head())
          return this.#none('this node has passed the block of the snapshot')
        if (sound !== undefined) {
          await this.#take(sound, begun !== undefined)
          return 'ready'
        }
      } catch (error) {
        if (this.#isStopped) break
        if (!isCoded(error)) throw error
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
    this.#isStopped = true
    this.#wake()
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

  #offered(): Promise<readonly ValidManifest[]> {
    const { network, head, checkpoint } = this.#options
    const from = Math.max(head() + 1, checkpoint?.number ?? 0)
    return offeredSnapshots({ network, cycleBlocks: this.#cycleBlocks, refused: this.#refused, from })
  }

  /**
   * Returns the newest offered snapshot whose block is proven to be part of the chain; undefined when no peer has one. Throws TrustError.
   */
  async #choose(): Promise<ValidManifest | undefined> {
    const { network, logger } = this.#options
    const offered = await this.#offered()
    let unknown: ValidManifest | undefined
    for (const sound of offered) {
      const { header, hash, id, offeredBy } = sound
      const proof = await this.#prove(sound)
      if (proof === 'true') return sound
      logger.warn({ number: header.number, hash, proof, offeredBy }, 'a snapshot of a block that is not proven')
      this.#refused.add(id)
      if (proof === 'false')
        for (const peer of offeredBy) network.reportForgery(peer, `snapshot of another chain, block ${hash}`)
      else unknown ??= sound
    }
    if (unknown === undefined) return undefined
    // A snapshot that cannot be proven now may be later, with other peers.
    this.#refused.clear()
    const anchor = await this.#anchor()
    throw new CodedError<TrustError>({ code: 'TRUST_BROKEN', from: anchor.number, to: unknown.header.number })
  }

  /** Returns the staged snapshot, unless it is unusable, or others are offered and it made no progress: then it is deleted. */
  async #kept(isGone: boolean): Promise<ValidManifest | undefined> {
    const { staging, logger } = this.#options
    const staged = await this.#staged()
    if (staged === undefined) return undefined
    const offered = isGone ? [] : await this.#offered()
    const same = offered.find(({ id }) => id === staged.id)
    const { done } = await staging.call('progress')
    const isStalled = done.length <= this.#doneBefore
    this.#doneBefore = done.length
    const isWanted = same !== undefined && (!isStalled || offered.length === 1)
    if (!isGone && (isWanted || offered.length === 0)) return same ?? staged
    // A snapshot whose providers deliver nothing must not be chosen again.
    if (same !== undefined) this.#refused.add(staged.id)
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

  /** Throws CodedError: SNAPSHOT_GONE, or that no peer answered. */
  async #take(sound: ValidManifest, isBegun: boolean): Promise<void> {
    const { staging, genesis, logger } = this.#options
    const { manifest, header, hash, offeredBy } = sound
    const { number } = header
    if (!isBegun) {
      logger.info({ number, hash, chunks: chunksOf(manifest) }, 'snapshot chosen')
      await staging.call('begin', encodeRlpList([encodeManifest(manifest)]), genesis.rows)
    }
    const { done, ...counts } = await staging.call('progress')
    const { nowMs } = this.#options.clock
    const progress = new SnapshotProgress({ chunks: chunksOf(manifest), done: done.length, ...counts }, nowMs, logger)
    this.#progress = progress
    const fetch = this.#fetcher(sound, new Set(done), progress)
    const certificate = await this.#records(sound, fetch)
    const accountsAt = manifest.records.length
    const storagesAt = accountsAt + manifest.accounts.length
    await fetch({ from: accountsAt, to: storagesAt })
    if (!(await staging.call('hasTrueStorages'))) throw this.#false(sound, 'storages of other accounts')
    await fetch({ from: storagesAt, to: chunksOf(manifest) })
    await this.#codes()
    const { history, balance } = await staging.call('progress')
    await this.#ancestors(history ?? { number, hash, certificate })
    const burntWei = genesis.wei + mintedUpTo(number, this.#options.identity.params.rewards) - balance
    if (burntWei < 0n) throw this.#false(sound, 'a state that holds more than was minted')
    await staging.call('finish', burntWei)
    logger.info({ number, hash, ...progress.totals, offeredBy }, 'snapshot sync finished')
  }

  #fetcher({ id, header }: ValidManifest, done: Set<number>, progress: SnapshotProgress) {
    return ({ from, to }: ChunkRange): Promise<void> =>
      fetchChunks({
        ...this.#options,
        id,
        number: header.number,
        from,
        to,
        done,
        progress,
        isStopped: () => this.#isStopped,
      })
  }

  /**
   * Fetches the council records and proves them by the contract's storage, which is fetched first; returns a certificate of the snapshot's
   * block by the committee they name. Little is fetched before a false snapshot is detected.
   */
  async #records(sound: ValidManifest, fetch: (range: ChunkRange) => Promise<void>): Promise<Certificate> {
    const { network, staging } = this.#options
    const { manifest, header, hash, offeredBy } = sound
    const owner = hashedKey(COUNCIL_ADDRESS)
    const account = accountChunk(manifest, owner)
    if (account === undefined) throw this.#false(sound, 'a state without the council')
    await fetch({ from: account, to: account + 1 })
    await fetch(storageChunks(manifest, owner))
    await fetch({ from: 0, to: manifest.records.length })
    const fault = await staging.call('recordsFault')
    if (fault !== null) throw this.#false(sound, `council records that the state does not hold: ${fault}`)
    const { certificate } = manifest
    if ((await staging.call('certificateFault', certificate)) === null) return certificate
    // The certificate is not part of the content: of several peers that offer the same content, only the first one's was checked.
    for (const peer of offeredBy.slice(0, 1))
      network.reportForgery(peer, `a false certificate of block ${header.number}`)
    const other = await fetchCertificate(network, { number: header.number, hash })
    if ((await staging.call('certificateFault', other)) !== null)
      throw fetchFailed(`a certificate of block ${header.number}`)
    return other
  }

  async #prove({ manifest: { certificate }, header, hash }: ValidManifest): Promise<Proof> {
    const { network, checkpoint, rules, clock } = this.#options
    if (checkpoint?.number === header.number) return checkpoint.hash === hash ? 'true' : 'unknown'
    const anchor = await this.#anchor()
    const witnesses = network
      .peers()
      .filter(({ head }) => head.number >= header.number)
      .map(({ id }) => id)
    const nowSeconds = Math.floor(clock.nowMs() / 1_000)
    return proveBlock({ header, hash, certificate }, { network, witnesses, anchor, rules, nowSeconds })
  }

  async #anchor(): Promise<Anchor> {
    const { network, checkpoint, genesis, rules } = this.#options
    const known = genesisAnchor(genesis.timestamp, genesis.validators)
    if (checkpoint === undefined || checkpoint.number === 0) return known
    const { header } = await fetchCheckpoint(network, checkpoint)
    // Block 1 names no sealers; genesis does.
    return anchorFromHeader(header, rules) ?? known
  }

  #false({ header, id, offeredBy }: ValidManifest, reason: string): Error {
    const { network } = this.#options
    this.#refused.add(id)
    for (const peer of offeredBy) network.reportForgery(peer, `snapshot ${header.number}: ${reason}`)
    return gone(header.number, reason)
  }

  async #codes(): Promise<void> {
    const { staging, network } = this.#options
    let after: Uint8Array | null = null
    while (!this.#isStopped) {
      const { hashes, last }: MissingCodes = await staging.call('missingCodes', after, SNAPSHOT_LIMITS.codes)
      if (hashes.length === 0) return
      after = last
      for (let left = hashes; left.length > 0; ) {
        const { answer, from } = await network.request('getCodes', left, {
          validate: codes => (codes.length === 0 ? 'empty' : 'good'),
        })
        const count = await staging.call('putCodes', left, answer)
        if (count < answer.length) network.reportForgery(from, 'a code with another hash')
        left = left.slice(count)
      }
    }
  }

  async #ancestors(first: HistoryTip | 'whole'): Promise<void> {
    const { network, staging } = this.#options
    if (first === 'whole') return
    // The record of the snapshot's cycle follows from the headers of that cycle.
    const lowest = Math.max(0, first.number - Math.max(SNAPSHOT_LIMITS.ancestors, this.#cycleBlocks + 1))
    let count: number = SNAPSHOT_LIMITS.historyBlocks
    for (let tip = first; tip.number > lowest && !this.#isStopped; ) {
      const wanted = Math.min(count, tip.number - lowest)
      const step = await importHistory(network, tip, wanted, (range, at) => staging.call('putBlocks', range, at))
      tip = step.tip
      count = step.nextCount
    }
  }

  #pause(ms: number = SNAPSHOT_LIMITS.retryMs): Promise<void> {
    const { clock } = this.#options
    const delay = delayUntil(clock, clock.nowMs() + ms)
    this.#wake = delay.end
    return delay.over
  }
}

const gone = (number: number, reason: string) =>
  new CodedError<SnapshotRejected>({ code: 'SNAPSHOT_GONE', number, reason })
