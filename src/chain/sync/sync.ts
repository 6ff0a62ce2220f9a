import { LIMITS } from '../../config/limits.ts'
import type { CatchUp, ConsensusEngine } from '../../consensus/engine-types.ts'
import type { CommitteePort, Head } from '../../consensus/ports.ts'
import {
  beginningOf,
  certificatesOf,
  type RangeRules,
  rangeFault,
  type SealedRange,
} from '../../consensus/verify-range.ts'
import type { Network } from '../../network/network.ts'
import type { Block, DecodedBlock } from '../../primitives/block.ts'
import { assert } from '../../util/assert.ts'
import type { Hex } from '../../util/bytes.ts'
import type { Clock } from '../../util/clock.ts'
import { isCoded } from '../../util/errors.ts'
import type { Logger } from '../../util/logger.ts'
import type { SyncStatus } from '../types.ts'
import { type Fetched, fetchPiece } from './fetch.ts'
import { type Piece, RangePlan } from './plan.ts'
import { Progress } from './progress.ts'
import { targetOf } from './target.ts'

export interface BlockSyncOptions {
  readonly network: Pick<Network, 'request' | 'reportFalsehood' | 'peers'>
  readonly engine: Pick<ConsensusEngine, 'catchUp'>
  /** The committed head. */
  readonly head: () => Pick<Head, 'number' | 'hash'>
  readonly committees: CommitteePort
  /** Whether this node is told of decisions by the committee itself. */
  readonly isMember: () => boolean
  readonly rules: Pick<RangeRules, 'domain' | 'recover' | 'certificates'>
  /** Recovers the senders, off this thread. */
  readonly withSenders: (block: DecodedBlock) => Promise<Block>
  readonly clock: Clock
  readonly logger: Logger
}

/** A range that is final and stands on what was imported before it. */
interface Verified {
  readonly range: SealedRange
  /** What has to wait until its committee is known. */
  readonly rest: Fetched | undefined
}

/**
 * Keeps a node in step with its peers (reference/consensus.md 4): whenever they are ahead, ranges are fetched side by side, verified
 * and imported in order. The engine goes on with its height until the first range is verified, so that nobody's word alone takes a
 * member out of consensus. A member that is a few blocks behind is left to the engine, which its neighbours tell what was decided.
 */
export class BlockSync {
  readonly #options: BlockSyncOptions
  #run: Promise<void> | undefined
  #progress: Progress | undefined
  #isStopped = false
  #cancelTick = () => {}
  #cancelNext = () => {}
  /** Wakes the import: an answer came, or the end. */
  #wake = () => {}
  /** The head as it was seen last, and since when it stands there. */
  #seen = { number: -1, sinceMs: 0 }
  #pauseMs = 0
  #notBeforeMs = 0

  constructor(options: BlockSyncOptions) {
    this.#options = options
  }

  get status(): SyncStatus | false {
    return this.#progress?.status ?? false
  }

  /** Looks at the peers' heads from now on; the engine must run. */
  start(): void {
    const { clock } = this.#options
    this.consider()
    this.#cancelTick = clock.schedule(clock.nowMs() + LIMITS.sync.tickMs, () => this.start())
  }

  /** Resolves when nothing is imported any more. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelTick()
    this.#wake()
    await this.#run
    this.#cancelNext()
  }

  /** A peer's head may have moved. Cheap. */
  consider(): void {
    if (this.#isStopped || this.#run !== undefined || !this.#isDue()) return
    this.#run = this.#catchUp().finally(() => {
      this.#run = undefined
      this.#progress = undefined
      // More may have come while the last blocks were imported.
      this.#cancelNext = this.#options.clock.schedule(this.#notBeforeMs, () => this.consider())
    })
  }

  #isDue(): boolean {
    const { head, isMember, clock } = this.#options
    const { number } = head()
    const nowMs = clock.nowMs()
    if (number !== this.#seen.number) this.#seen = { number, sinceMs: nowMs }
    if (nowMs < this.#notBeforeMs) return false
    const behind = this.#target(number) - number
    const isPatient = this.#seen.sinceMs + LIMITS.sync.patienceMs > nowMs
    return behind > (isPatient && isMember() ? LIMITS.sync.nearBlocks : 0)
  }

  #target(head: number): number {
    return targetOf(
      this.#options.network.peers().map(peer => peer.head.number),
      head,
    )
  }

  async #catchUp(): Promise<void> {
    const { head, engine, clock, logger } = this.#options
    const { number, hash } = head()
    const startedMs = clock.nowMs()
    const { parallel, pieces } = LIMITS.sync
    const plan = new RangePlan<Fetched>(number, { pieceBlocks: LIMITS.network.blocksPerRequest, parallel, pieces })
    try {
      let parent = { number, hash }
      const first = await this.#next(plan, parent)
      if (first !== undefined) {
        const progress = new Progress(number, this.#target(number), startedMs, logger)
        this.#progress = progress
        const work: CatchUp = async adopt => {
          for (let next: Verified | undefined = first; next !== undefined; next = await this.#next(plan, parent)) {
            parent = await this.#import(next, adopt, progress)
            plan.imported(next.range.blocks.length, next.rest)
          }
        }
        await engine.catchUp(work)
        progress.ended(clock.nowMs())
      }
    } catch (error) {
      // The engine has told what it died of; its end is nothing to report.
      if (!isCoded(error) || error.code !== 'ENGINE_STOPPED') logger.warn({ err: error }, 'catching up failed')
    }
    this.#rest(plan.head > number, startedMs)
  }

  /** Peers that have nothing, or nothing true, are asked less and less often; nobody more often than they bear. */
  #rest(isFruitful: boolean, startedMs: number): void {
    const { pauseMs, pauseCapMs, spacingMs } = LIMITS.sync
    this.#pauseMs = isFruitful ? 0 : Math.min(pauseCapMs, Math.max(pauseMs, 2 * this.#pauseMs))
    this.#notBeforeMs = isFruitful ? startedMs + spacingMs : this.#options.clock.nowMs() + this.#pauseMs
  }

  /** The next range that is final; undefined: nothing more to import, or nobody has it. */
  async #next(plan: RangePlan<Fetched>, parent: RangeRules['parent']): Promise<Verified | undefined> {
    while (!this.#isStopped) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      const target = this.#target(plan.head)
      this.#progress?.aim(target)
      for (const piece of plan.ask(target)) void this.#fetch(plan, piece)
      // The engine waits: what nobody has at once is for another try.
      const attempts = this.#progress === undefined ? LIMITS.sync.attempts : 1
      if (plan.isEmpty || plan.isStalled(attempts)) return undefined
      const next = plan.next()
      if (next === undefined) {
        await promise
        continue
      }
      const verified = this.#verify(next.content, parent)
      if (verified !== undefined) return verified
      plan.refused()
    }
    return undefined
  }

  async #fetch(plan: RangePlan<Fetched>, piece: Piece): Promise<void> {
    const { network, clock, logger } = this.#options
    try {
      const fetched = await fetchPiece(network, piece)
      plan.arrived(piece, fetched.range.blocks.length, fetched)
    } catch (error) {
      logger.debug({ err: error, ...piece }, 'blocks not received')
      // Whoever had nothing at once would be asked again at once. While the engine waits, nobody is asked again.
      if (this.#progress === undefined)
        await new Promise<void>(resolve => clock.schedule(clock.nowMs() + LIMITS.sync.retryMs, resolve))
      plan.failed(piece)
    }
    this.#wake()
  }

  /** As much of a range as can be verified now; undefined: it is false, and whoever sent it is named. */
  #verify({ range, from }: Fetched, parent: RangeRules['parent']): Verified | undefined {
    const { committees, rules, network, logger } = this.#options
    const known = range.blocks.findIndex((_, at) => committees.committee(parent.number + 1 + at) === undefined)
    assert(known !== 0, 'the committee of the next height is known')
    const beginning = known < 0 ? range : beginningOf(range, known)
    const fault =
      beginning === undefined
        ? { number: parent.number + known, reason: 'CERTIFICATE_MISSING' }
        : rangeFault(beginning, { ...rules, parent, committees })
    if (beginning !== undefined && fault === null) {
      const rest = known < 0 ? undefined : { range: { ...range, blocks: range.blocks.slice(known) }, from }
      return { range: beginning, rest }
    }
    logger.warn({ peer: from, ...fault }, 'a peer sent false blocks')
    network.reportFalsehood(from, `block ${fault?.number}: ${fault?.reason}`)
    return undefined
  }

  /** One block after the other; the senders of the next one are recovered meanwhile. Answers the last one. */
  async #import(
    { range }: Verified,
    adopt: Parameters<CatchUp>[0],
    progress: Progress,
  ): Promise<{ readonly number: number; readonly hash: Hex }> {
    const { withSenders, clock } = this.#options
    const certificates = certificatesOf(range)
    let coming = this.#ahead(range, 0)
    for (const [at, { header }] of range.blocks.entries()) {
      if (this.#isStopped) break
      const block = await (coming ?? withSenders(range.blocks[at] as DecodedBlock))
      coming = this.#ahead(range, at + 1)
      await adopt({ block, certificate: certificates[at] as (typeof certificates)[number] })
      progress.moved(header.number, clock.nowMs())
    }
    const { header, hash } = range.blocks.at(-1) as DecodedBlock
    return { number: header.number, hash }
  }

  #ahead({ blocks }: SealedRange, at: number): Promise<Block> | undefined {
    const block = blocks[at]
    if (block === undefined) return undefined
    const coming = this.#options.withSenders(block)
    // Awaited when it is its turn, which may never come.
    coming.catch(() => {})
    return coming
  }
}
