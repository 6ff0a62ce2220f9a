import { LIMITS } from '../../config/limits.ts'
import type { Network } from '../../network/network.ts'
import { chunksOf, encodeManifest } from '../../network/wire/snapshot.ts'
import { decodeBlock } from '../../primitives/block.ts'
import { decodeExtraData } from '../../primitives/extra-data.ts'
import { encodeRlpList } from '../../primitives/rlp.ts'
import { mintedUpTo } from '../../rules/supply.ts'
import { assert } from '../../util/assert.ts'
import type { Hex } from '../../util/bytes.ts'
import type { Clock } from '../../util/clock.ts'
import { CodedError, isCoded } from '../../util/errors.ts'
import type { Logger } from '../../util/logger.ts'
import { pauseUntil } from '../../util/pause.ts'
import type { Thread } from '../../util/thread.ts'
import { targetOf } from '../sync/target.ts'
import type { SyncStatus } from '../types.ts'
import { chooseSnapshot, type SoundManifest, storedManifest } from './choose.ts'
import { type FetchError, fetchSealedHeader, fetchTail, takeHistory } from './fetch.ts'
import { fetchChunks } from './fetch-chunks.ts'
import type { HistoryTip } from './history-rows.ts'
import { SnapshotProgress } from './progress.ts'
import type { ChainIdentity, GenesisRows, MissingCodes } from './staging.ts'
import type { StagingMethods } from './staging-worker.ts'
import { type Anchor, anchorOf, genesisAnchor, type SealedHeader, type TrustRules, trustBlock } from './trust.ts'

/** A block that the operator says is of the chain. */
export interface Checkpoint {
  readonly number: number
  readonly hash: Hex
}

export interface SnapshotSyncOptions {
  readonly network: Pick<Network, 'request' | 'reportForgery' | 'peers'>
  /** Takes the snapshot in, beside the running node's own store. */
  readonly staging: Thread<StagingMethods>
  readonly identity: ChainIdentity
  /** Genesis, as this node knows it. */
  readonly genesis: {
    readonly timestamp: number
    readonly validators: readonly Hex[]
    readonly wei: bigint
    readonly rows: GenesisRows
  }
  readonly checkpoint: Checkpoint | undefined
  readonly rules: TrustRules
  /** The head of the running node. */
  readonly head: () => number
  readonly clock: Clock
  readonly logger: Logger
}

/** `ready`: the staged store is a chain. `none`: no snapshot can be had, and blocks are the way. */
export type SnapshotOutcome = 'ready' | 'none' | 'stopped'

/** The snapshot turned out to be false, or is not the one wanted: another may do. */
export type SnapshotGone = { readonly code: 'SNAPSHOT_GONE'; readonly number: number; readonly reason: string }

/**
 * Brings a new node to the state of a block that peers have a snapshot of (docs/decisions/0022-snapshot-sync.md): the block is proven to be
 * of the chain, then everything is fetched in an order in which each piece can be verified, and taken in by a thread that keeps
 * what it has over restarts.
 */
export class SnapshotSync {
  readonly #options: SnapshotSyncOptions
  #progress: SnapshotProgress | undefined
  #isStopped = false
  #wake = () => {}

  constructor(options: SnapshotSyncOptions) {
    this.#options = options
  }

  get status(): SyncStatus | false {
    return this.#progress?.status(this.#target()) ?? false
  }

  /** Resolves when nothing more is done; to be called once. */
  async run(): Promise<SnapshotOutcome> {
    const { staging, logger } = this.#options
    const { isWhole, manifest } = await staging.call('progress')
    if (isWhole) return 'ready'
    let begun = manifest === null ? undefined : storedManifest(manifest)
    if (!(await this.#peersAhead(begun !== undefined))) return this.#isStopped ? 'stopped' : 'none'
    for (let attempt = 1; !this.#isStopped; attempt++) {
      try {
        const sound = begun ?? (await this.#choose())
        // The chain went on by itself meanwhile, past what it could begin with.
        if (sound !== undefined && sound.header.number <= this.#options.head()) return 'none'
        if (sound !== undefined) {
          await this.#take(sound, begun !== undefined)
          return 'ready'
        }
      } catch (error) {
        if (this.#isStopped) break
        if (!isCoded(error)) throw error
        logger.warn({ err: error, attempt }, 'the snapshot did not come whole')
        if (error.code === 'ANCHOR_TOO_OLD' || error.code === 'TRUST_BROKEN') return 'none'
        const kept = await this.#kept(error.code === 'SNAPSHOT_GONE')
        if (begun !== undefined && kept === undefined) attempt = 0
        begun = kept
      }
      if (begun === undefined && attempt >= LIMITS.snapshot.attempts) return 'none'
      await this.#pause(Math.min(attempt, LIMITS.snapshot.pauses) * LIMITS.snapshot.retryMs)
    }
    return 'stopped'
  }

  stop(): void {
    this.#isStopped = true
    this.#wake()
  }

  get #cycleBlocks(): number {
    return this.#options.identity.params.rewards.cycleBlocks
  }

  #choose(): Promise<SoundManifest | undefined> {
    return chooseSnapshot(this.#options.network, this.#cycleBlocks)
  }

  /** What is staged, unless it is of no use or peers have gone on to another snapshot: then it is removed. */
  async #kept(isGone: boolean): Promise<SoundManifest | undefined> {
    const { staging, logger } = this.#options
    const { manifest } = await staging.call('progress')
    const staged = manifest === null ? undefined : storedManifest(manifest)
    const offered = isGone || staged === undefined ? undefined : await this.#choose()
    if (!isGone && (offered === undefined || offered.hash === staged?.hash)) return staged
    if (staged !== undefined) logger.info({ number: staged.header.number }, 'a snapshot is given up for another')
    await staging.call('reset')
    return undefined
  }

  /** Waits until some peer is ahead; not for long where nothing is begun: a chain may be as new as the node. */
  async #peersAhead(isBegun: boolean): Promise<boolean> {
    const { clock, head } = this.#options
    const untilMs = clock.nowMs() + LIMITS.snapshot.patienceMs
    while (!this.#isStopped) {
      if (this.#target() > head()) return true
      if (!isBegun && (head() > 0 || clock.nowMs() >= untilMs)) return false
      await this.#pause(LIMITS.snapshot.lookMs)
    }
    return false
  }

  #target(): number {
    const { network, head } = this.#options
    return targetOf(
      network.peers().map(peer => peer.head.number),
      head(),
    )
  }

  /** Throws CodedError: TrustError, SNAPSHOT_GONE, or that nobody answered. */
  async #take(sound: SoundManifest, isBegun: boolean): Promise<void> {
    const { network, staging, genesis, logger } = this.#options
    const { manifest, header, hash, from } = sound
    const { number } = header
    const tail = await fetchTail(network, { number, hash }, 2 * this.#cycleBlocks)
    await this.#trust(sound, tail.tip)
    if (!isBegun) {
      logger.info({ number, hash, chunks: chunksOf(manifest) }, 'snapshot chosen')
      await staging.call('begin', encodeRlpList([encodeManifest(manifest)]), genesis.rows)
    }
    const { done, ...counts } = await staging.call('progress')
    const { nowMs } = this.#options.clock
    const progress = new SnapshotProgress({ chunks: chunksOf(manifest), done: done.length, ...counts }, nowMs, logger)
    this.#progress = progress
    const stage = (first: number, end: number) =>
      fetchChunks({
        ...this.#options,
        hash,
        number,
        from: first,
        to: end,
        done: new Set(done),
        progress,
        isStopped: () => this.#isStopped,
      })
    const accountsAt = manifest.records.length
    const storagesAt = accountsAt + manifest.accounts.length
    await stage(0, accountsAt)
    const { blocks, certificate } = tail
    const fault = await staging.call('committeesFault', { blocks, certificate })
    if (fault !== null) throw this.#false(sound, `its councils did not seal block ${fault.number}: ${fault.reason}`)
    await stage(accountsAt, storagesAt)
    if (!(await staging.call('hasTrueStorages'))) throw this.#false(sound, 'storages of other accounts')
    await stage(storagesAt, chunksOf(manifest))
    if (!(await staging.call('hasTrueCouncil'))) throw this.#false(sound, 'another council than the state holds')
    await this.#codes()
    await this.#ancestors(await this.#tipOf(sound, tail.blocks[0]))
    const { balance } = await staging.call('progress')
    const burntWei = genesis.wei + mintedUpTo(number, this.#options.identity.params.rewards) - balance
    assert(burntWei >= 0n, 'no state holds more than was minted')
    await staging.call('finish', burntWei)
    logger.info({ number, hash, ...progress.totals, from }, 'snapshot taken in')
  }

  /** The last block after the snapshot must be of the chain; those below are by their links. */
  async #trust({ header, hash }: SoundManifest, tip: SealedHeader): Promise<void> {
    const { network, checkpoint, rules, clock } = this.#options
    const anchor = await this.#anchor()
    if (checkpoint !== undefined && checkpoint.number > header.number)
      throw gone(header.number, 'older than the checkpoint')
    if (checkpoint?.number === header.number && checkpoint.hash === hash) return
    const nowSeconds = Math.floor(clock.nowMs() / 1_000)
    await trustBlock(anchor, tip, { ...rules, nowSeconds, fetch: number => fetchSealedHeader(network, number) })
  }

  async #anchor(): Promise<Anchor> {
    const { network, checkpoint, genesis, rules } = this.#options
    const known = genesisAnchor(genesis.timestamp, genesis.validators)
    if (checkpoint === undefined || checkpoint.number === 0) return known
    const { header, hash } = await fetchSealedHeader(network, checkpoint.number)
    if (hash !== checkpoint.hash)
      throw new CodedError<FetchError>({ code: 'NOT_OBTAINED', what: `the checkpoint, block ${checkpoint.number}` })
    // Block 1 names nobody; genesis does.
    return anchorOf(header, rules) ?? known
  }

  #false({ header, from }: SoundManifest, reason: string): Error {
    if (from !== undefined) this.#options.network.reportForgery(from, `snapshot ${header.number}: ${reason}`)
    return gone(header.number, reason)
  }

  async #codes(): Promise<void> {
    const { staging, network } = this.#options
    let after: Uint8Array | null = null
    while (!this.#isStopped) {
      const { hashes, last }: MissingCodes = await staging.call('missingCodes', after, LIMITS.snapshot.codes)
      if (hashes.length === 0) return
      after = last
      for (let left = hashes; left.length > 0; ) {
        const { answer, from } = await network.request('getCodes', left, {
          judge: codes => (codes.length === 0 ? 'empty' : 'good'),
        })
        const count = await staging.call('putCodes', left, answer)
        if (count < answer.length) network.reportForgery(from, 'a code with another hash')
        left = left.slice(count)
      }
    }
  }

  /** The snapshot's block itself, where nothing is in, by the certificate that its child has of it: that one was verified. */
  async #tipOf({ header, hash }: SoundManifest, child: Uint8Array | undefined): Promise<HistoryTip | 'whole'> {
    assert(child !== undefined, 'blocks follow a snapshot')
    const { history } = await this.#options.staging.call('progress')
    if (history !== null) return history
    const { parentCertificate: certificate } = decodeExtraData(decodeBlock(child).header.extraData)
    assert(certificate !== null, 'the certificate was verified')
    return { number: header.number, hash, certificate }
  }

  async #ancestors(first: HistoryTip | 'whole'): Promise<void> {
    const { network, staging } = this.#options
    if (first === 'whole') return
    const lowest = Math.max(0, first.number - LIMITS.snapshot.ancestors)
    let count: number = LIMITS.snapshot.historyBlocks
    for (let tip = first; tip.number > lowest && !this.#isStopped; ) {
      const wanted = Math.min(count, tip.number - lowest)
      const step = await takeHistory(network, tip, wanted, (range, at) => staging.call('putBlocks', range, at))
      tip = step.tip
      count = step.nextCount
    }
  }

  #pause(ms: number = LIMITS.snapshot.retryMs): Promise<void> {
    const { clock } = this.#options
    const pause = pauseUntil(clock, clock.nowMs() + ms)
    this.#wake = pause.end
    return pause.over
  }
}

const gone = (number: number, reason: string) => new CodedError<SnapshotGone>({ code: 'SNAPSHOT_GONE', number, reason })
