import type { Hex } from '@tandem/base/bytes.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { CONSENSUS_LIMITS } from '../../config/limits/consensus.ts'
import type { Block } from '../../primitives/block.ts'
import { readExtraData } from '../../primitives/consensus/extra-data.ts'
import type { SignedHead } from '../../primitives/consensus/message.ts'
import type { Committee } from '../committee.ts'
import type { Effect } from '../core/types.ts'
import type { ConsensusMetrics } from './metrics.ts'

/**
 * Estimate of this node's clock skew against other proposers: a block's timestamp is its proposer's clock at the beginning of a second.
 * Network and work can only delay a proposal, so the minimum over a proposer's recent offsets counts, and then the median over
 * proposers, so that a single wrong clock there is not attributed to this node.
 */
export class ClockSkew {
  readonly #offsets = new Map<Hex, number[]>()

  /** `offsetMs`: arrival time of the proposal by this node's clock, less the block's timestamp. */
  heard(proposer: Hex, offsetMs: number): void {
    const { proposers, offsets } = CONSENSUS_LIMITS.skew
    const last = this.#offsets.get(proposer) ?? []
    // Evicts the proposer that was silent longest: it is no longer a member.
    this.#offsets.delete(proposer)
    if (this.#offsets.size >= proposers) this.#offsets.delete(this.#offsets.keys().next().value as Hex)
    this.#offsets.set(proposer, [...last, offsetMs].slice(-offsets))
  }

  /** Skew in milliseconds; positive: this clock is ahead. null: fewer than two others have been heard often enough. */
  get ms(): number | null {
    const known = [...this.#offsets.values()].filter(offsets => offsets.length >= CONSENSUS_LIMITS.skew.least)
    if (known.length < 2) return null
    const least = known.map(offsets => Math.min(...offsets)).sort((a, b) => a - b)
    // The median of an even number is the one closer to zero: more than half of the others must agree on a skew.
    const lower = least[(least.length - 1) >> 1] as number
    const upper = least[least.length >> 1] as number
    return Math.abs(lower) < Math.abs(upper) ? lower : upper
  }
}

interface ConsensusMonitorOptions {
  readonly blockTimeMs: number
  /** Address of this node's validator. */
  readonly self: Hex | undefined
  readonly logger: Logger
  readonly metrics?: ConsensusMetrics | undefined
}

/** Observes consensus for the operator: durations of the phases of a height, votes by validator, and clock skew. It decides nothing. */
export class ConsensusMonitor {
  readonly #options: ConsensusMonitorOptions
  readonly #skew = new ClockSkew()
  /** Last vote counted, by validator and type, since votes are resent. */
  readonly #voted = new Map<string, { readonly number: number; readonly round: number }>()
  #proposedMs: number | null = null
  #preparedMs: number | null = null
  #isSkewed = false

  constructor(options: ConsensusMonitorOptions) {
    this.#options = options
  }

  /** A height is opened or left: phases under way are not measured. */
  heightChanged(): void {
    this.#proposedMs = null
    this.#preparedMs = null
  }

  onEffect(effect: Effect, nowMs: number): void {
    const { metrics } = this.#options
    if (effect.type === 'build') this.#proposedMs = nowMs
    else if (effect.type === 'validate') {
      this.#proposedMs = nowMs
      if (effect.fresh && effect.round === 0) this.#compareClocks(effect.block, nowMs)
    } else if (effect.type === 'persist' && effect.record.type === 'prepared') {
      this.#preparedMs = nowMs
      if (this.#proposedMs !== null) metrics?.prepared((nowMs - this.#proposedMs) / 1_000)
    } else if (effect.type === 'decide' && this.#preparedMs !== null)
      metrics?.committed((nowMs - this.#preparedMs) / 1_000)
  }

  /** Handles a message with a valid signature, of any height in memory. */
  onMessage({ type, sender, number, round }: SignedHead, { members }: Committee): void {
    const validator = members[sender]
    if (this.#options.metrics === undefined || validator === undefined || validator === this.#options.self) return
    const key = `${validator} ${type}`
    const last = this.#voted.get(key)
    if (last !== undefined && (number < last.number || (number === last.number && round <= last.round))) return
    if (last === undefined && this.#voted.size >= CONSENSUS_LIMITS.watchedVotes) this.#voted.clear()
    this.#voted.set(key, { number, round })
    this.#options.metrics.voted(validator, type)
  }

  #compareClocks(block: Block, nowMs: number): void {
    const { blockTimeMs, self, metrics, logger } = this.#options
    // Only with a block time of whole seconds do blocks begin on a second (timing/pacemaker.ts).
    if (blockTimeMs === 0 || blockTimeMs % 1_000 !== 0) return
    const proposer = readExtraData(block.header)?.proposer
    if (proposer === undefined || proposer === self) return
    this.#skew.heard(proposer, nowMs - block.header.timestamp * 1_000)
    const { ms } = this.#skew
    if (ms === null) return
    metrics?.skewed(ms / 1_000)
    const { warnMs } = CONSENSUS_LIMITS.skew
    if (!this.#isSkewed && Math.abs(ms) > warnMs) {
      this.#isSkewed = true
      logger.warn(
        { aheadMs: Math.round(ms) },
        'the clock of this node differs from those of the other proposers, or their proposals take long: check the time service (NTP)',
      )
    } else if (this.#isSkewed && Math.abs(ms) < warnMs / 2) this.#isSkewed = false
  }
}
