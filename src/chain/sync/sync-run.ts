import { assert } from '@tandem/base/assert.ts'
import { delayUntil } from '@tandem/base/async/delay.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { SYNC_LIMITS } from '../../config/limits/sync.ts'
import type { CatchUp, ConsensusEngine } from '../../consensus/engine/types.ts'
import type { CommitteePort, Head } from '../../consensus/ports.ts'
import {
  certificatesOfRange,
  type RangeRules,
  rangeFault,
  rangePrefix,
  type SealedRange,
} from '../../consensus/verify-range.ts'
import type { Network, PeerDescription } from '../../network/network.ts'
import type { RequestEvent } from '../../network/peer/requester.ts'
import type { Block, DecodedBlock } from '../../primitives/block.ts'
import type { Certificate } from '../../primitives/consensus/certificate.ts'
import type { SyncStatus } from '../store/types.ts'
import { type FetchedBlocks, fetchBatch } from './fetch-blocks.ts'
import { type BlockBatch, RangePlan } from './range-plan.ts'
import type { SyncPeers } from './sync-peers.ts'
import { SyncProgress } from './sync-progress.ts'
import { provenHead, syncTarget } from './sync-target.ts'

/** Dependencies of block sync. */
export interface BlockSyncOptions {
  readonly network: Pick<Network, 'request' | 'reportForgery'> & {
    peers(): readonly (Pick<PeerDescription, 'id' | 'head'> & Partial<Pick<PeerDescription, 'place'>>)[]
  }
  readonly engine: Pick<ConsensusEngine, 'catchUp'>
  /** Committed head. */
  readonly head: () => Pick<Head, 'number' | 'hash'>
  readonly committees: CommitteePort
  /** Returns true when the committee itself sends decisions to this node. */
  readonly isMember: () => boolean
  readonly rules: Pick<RangeRules, 'domain' | 'recover' | 'certificates'>
  /** Recovers the senders, off this thread. */
  readonly withSenders: (block: DecodedBlock) => Promise<Block>
  /** Slices of the thread's time (`sliceOver`, the default). */
  readonly pause?: () => Promise<void> | undefined
  readonly clock: Clock
  readonly logger: Logger
}

/** Verified final range that continues the imported blocks. */
interface Verified {
  readonly range: SealedRange
  /** Blocks that wait until their committee is known. */
  readonly rest: FetchedBlocks | undefined
}

const FORKED =
  'a quorum sealed blocks that do not follow the head of this node: compare its head with other nodes, and if it differs start with an empty data folder'

/**
 * One sync run, from the head to the peers' heads: ranges are fetched concurrently, verified and imported in order. The engine
 * continues with its height until a range is verified, and again whenever the next one is late: no unverified claim takes a member
 * out of consensus, and no slow response keeps it out.
 */
export class SyncRun {
  readonly #options: BlockSyncOptions
  readonly #syncPeers: SyncPeers
  readonly #plan: RangePlan<FetchedBlocks>
  /** Parent that the next range must have. */
  #parent: { readonly number: number; readonly hash: Hex }
  #progress: SyncProgress | undefined
  #isStopped = false
  /** Wakes the wait for the next range: a response arrived, peers moved, or the run ends. */
  #wake = () => {}

  constructor(options: BlockSyncOptions, syncPeers: SyncPeers) {
    this.#options = options
    this.#syncPeers = syncPeers
    const { number, hash } = options.head()
    this.#parent = { number, hash }
    const { parallel, pieces } = SYNC_LIMITS
    this.#plan = new RangePlan(number, { pieceBlocks: NETWORK_LIMITS.blocksPerRequest, parallel, pieces })
  }

  /** false: too close to the target to report. */
  get status(): SyncStatus | false {
    return this.#progress?.status ?? false
  }

  /** Last imported height. */
  get head(): number {
    return this.#plan.head
  }

  /** Called when peers may have more blocks. */
  look(): void {
    this.#wake()
  }

  /** Adds pushed blocks, those after `head`. */
  offer(fetchedBlocks: FetchedBlocks): void {
    this.#plan.offered(fetchedBlocks.range.blocks.length, fetchedBlocks)
    this.#wake()
  }

  stop(): void {
    this.#isStopped = true
    this.#wake()
  }

  /** Resolves when no peer has more blocks, or the engine has decided them itself. Rejects as the engine's `catchUp` does. */
  async finish(): Promise<void> {
    const { engine, clock, logger } = this.#options
    const startedMs = clock.nowMs()
    for (let first = await this.#next(false); first !== undefined; first = await this.#next(false)) {
      this.#progress ??= new SyncProgress(this.#parent.number, this.#shownTarget(), startedMs, logger)
      const range = first
      await engine.catchUp(adopt => this.#importAll(range, adopt))
    }
    this.#progress?.ended(clock.nowMs())
  }

  async #importAll(first: Verified, adopt: Parameters<CatchUp>[0]): Promise<void> {
    for (let next: Verified | undefined = first; next !== undefined; next = await this.#next(true)) {
      await this.#import(next.range, adopt)
      if (this.#isStopped) return
      this.#plan.imported(next.range.blocks.length, next.rest)
    }
  }

  /** Returns the next final range; undefined: no peer has one, or, while the engine is stopped for the run, it has not arrived yet. */
  async #next(isAway: boolean): Promise<Verified | undefined> {
    const { clock, head } = this.#options
    const plan = this.#plan
    let untilMs = clock.nowMs() + (isAway ? SYNC_LIMITS.awayMs : SYNC_LIMITS.lateMs)
    while (!this.#isStopped) {
      // The engine reached that height by itself: the requested blocks are old.
      if (!isAway && head().number > plan.head) return undefined
      const target = this.#target()
      for (const blockBatch of plan.ask(target)) void this.#fetch(blockBatch, () => true)
      const next = plan.next()
      if (next !== undefined) {
        const verified = this.#verify(next.content)
        if (verified !== undefined) return verified
        plan.refused()
      } else if (target <= plan.head || plan.isStalled(SYNC_LIMITS.attempts)) return undefined
      else if (clock.nowMs() < untilMs) await this.#somethingOr(untilMs)
      else if (isAway) return undefined
      else {
        untilMs = clock.nowMs() + SYNC_LIMITS.lateMs
        const late = plan.askAgain(SYNC_LIMITS.askedAtOnce)
        if (late !== undefined) void this.#fetch(late, peer => this.#syncPeers.isFree(peer))
      }
    }
    return undefined
  }

  #target(): number {
    const { network, clock } = this.#options
    return syncTarget(this.#syncPeers.claims(network.peers(), clock.nowMs()), this.#plan.head)
  }

  /** Target shown to clients: only claims of peers that have delivered count. */
  #shownTarget(): number {
    const { network, clock } = this.#options
    const peers = network.peers().filter(({ id }) => this.#syncPeers.hasDelivered(id))
    const { head } = this.#plan
    return provenHead([], this.#syncPeers.claims(peers, clock.nowMs()), head) ?? head
  }

  #somethingOr(untilMs: number): Promise<void> {
    const delay = delayUntil(this.#options.clock, untilMs)
    this.#wake = delay.end
    return delay.over
  }

  async #fetch(blockBatch: BlockBatch, mayAsk: (peer: string) => boolean): Promise<void> {
    const { network, committees, rules, pause, clock, logger } = this.#options
    const syncPeers = this.#syncPeers
    try {
      const fetchedBlocks = await fetchBatch(network, blockBatch, {
        rules: { ...rules, committees },
        pause,
        among: peer => syncPeers.counts(peer, clock.nowMs()) && mayAsk(peer),
        watch: (peer, event) => this.#watch(peer, event),
      })
      this.#plan.arrived(blockBatch, fetchedBlocks.range.blocks.length, fetchedBlocks)
    } catch (error) {
      logger.debug({ err: error, ...blockBatch }, 'blocks not received')
      // Without a pause a peer that returns nothing would get the next request at once.
      await delayUntil(clock, clock.nowMs() + SYNC_LIMITS.retryMs).over
      this.#plan.failed(blockBatch)
    }
    this.#wake()
  }

  #watch(peer: string, event: RequestEvent): void {
    if (event === 'asked') {
      this.#syncPeers.asked(peer)
      return
    }
    this.#syncPeers.answered(peer)
    if (event !== 'false' && event !== 'timeout') return
    this.#syncPeers.failed(peer, this.#options.clock.nowMs())
    this.#wake()
  }

  /** Returns the part of a range that can be verified now; undefined: it is false, and its sender is reported. */
  #verify({ range, from }: FetchedBlocks): Verified | undefined {
    const { committees, rules, network, clock, logger } = this.#options
    const parent = this.#parent
    const known = range.blocks.findIndex((_, at) => committees.committee(parent.number + 1 + at) === undefined)
    assert(known !== 0, 'the committee of the next height is known')
    const beginning = known < 0 ? range : rangePrefix(range, known)
    const fault =
      beginning === undefined
        ? { number: parent.number + known, reason: 'CERTIFICATE_MISSING' }
        : rangeFault(beginning, { ...rules, parent, committees })
    if (beginning !== undefined && fault === null) {
      this.#syncPeers.delivered(from)
      const rest = known < 0 ? undefined : { range: { ...range, blocks: range.blocks.slice(known) }, from }
      return { range: beginning, rest }
    }
    this.#syncPeers.failed(from, clock.nowMs())
    if (fault?.reason === 'LINK') {
      // The links among the blocks were verified on arrival, and a quorum sealed the last: the peer is not lying.
      logger.error({ peer: from, number: fault.number, parent: parent.hash }, FORKED)
    } else {
      logger.warn({ peer: from, ...fault }, 'peer sent invalid blocks')
      network.reportForgery(from, `block ${fault?.number}: ${fault?.reason}`)
    }
    return undefined
  }

  /** Imports one block after the other; the senders of the next one are recovered meanwhile. */
  async #import(range: SealedRange, adopt: Parameters<CatchUp>[0]): Promise<void> {
    const { clock } = this.#options
    const certificates = certificatesOfRange(range)
    let coming = this.#ahead(range, 0)
    for (const [at, { header }] of range.blocks.entries()) {
      if (this.#isStopped) return
      const block = await (coming ?? this.#options.withSenders(range.blocks[at] as DecodedBlock))
      coming = this.#ahead(range, at + 1)
      await adopt({ block, certificate: certificates[at] as Certificate })
      this.#progress?.moved(header.number, clock.nowMs())
    }
    const { header, hash } = range.blocks.at(-1) as DecodedBlock
    this.#parent = { number: header.number, hash }
    this.#progress?.aim(this.#shownTarget())
  }

  /** Starts recovering the senders of a later block; undefined: nothing is recovered ahead. */
  #ahead({ blocks }: SealedRange, at: number): Promise<Block> | undefined {
    const block = blocks[at]
    // Two full blocks might exceed the recovery queue.
    if (block === undefined || block.transactions.length > SYNC_LIMITS.aheadTransactions) return undefined
    const coming = this.#options.withSenders(block)
    // Awaited when the block is imported, which may never happen.
    coming.catch(() => {})
    return coming
  }
}
