import type { Metrics } from '../../metrics/registry.ts'
import type { VoteType } from '../../primitives/consensus/vote.ts'
import type { Hex } from '../../util/bytes.ts'

/** What an engine counts and times for its operator (docs/consensus.md#what-an-operator-sees). Seconds. */
export interface ConsensusMetrics {
  /** From the proposal, as it was begun or came, to the quorum of prepares. */
  prepared(seconds: number): void
  /** From there to the quorum of commits. */
  committed(seconds: number): void
  /** The first of its kind for a round, with a right signature. */
  voted(validator: Hex, type: VoteType): void
  /** One sync of the log or of the watermark. */
  synced(file: SyncedFile, seconds: number): void
  /** How much earlier the clocks of the other proposers are than this node's. */
  skewed(seconds: number): void
}
export type SyncedFile = 'log' | 'watermark'

export const createConsensusMetrics = (metrics: Metrics): ConsensusMetrics => {
  const prepare = metrics.histogram({
    name: 'consensus_prepare_seconds',
    help: 'From a proposal, begun or received, to the quorum of prepares',
  })
  const commit = metrics.histogram({
    name: 'consensus_commit_seconds',
    help: 'From the quorum of prepares to the quorum of commits',
  })
  const votes = metrics.counter({
    name: 'consensus_votes_total',
    help: 'Votes and proposals heard of other validators; whoever lags behind the rest is slow or silent',
    labels: ['validator', 'type'],
  })
  const syncs = metrics.histogram({
    name: 'consensus_fsync_seconds',
    help: 'Waits for the disk before a vote may leave',
    labels: ['file'],
  })
  const skew = metrics.gauge({
    name: 'consensus_clock_skew_seconds',
    help: 'How far the clock of this node is ahead of those of the other proposers, by the median of them; network and work included',
  })
  return {
    prepared: seconds => prepare.observe(seconds),
    committed: seconds => commit.observe(seconds),
    voted: (validator, type) => votes.inc({ validator, type }),
    synced: (file, seconds) => syncs.observe({ file }, seconds),
    skewed: seconds => skew.set(seconds),
  }
}
