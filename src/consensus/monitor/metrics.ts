import type { Hex } from '@tandem/base/bytes.ts'
import type { Metrics } from '../../metrics/registry.ts'
import type { VoteType } from '../../primitives/consensus/vote.ts'

export type SyncedFile = 'log' | 'watermark'

/** Metrics of the engine for the operator (docs/design/consensus.md#what-an-operator-sees). Times in seconds. */
export type ConsensusMetrics = ReturnType<typeof createConsensusMetrics>

/** Declares the metrics of the engine. */
export const createConsensusMetrics = (metrics: Metrics) => {
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
    help: 'Votes and proposals received from other validators; one that lags behind the rest is slow or silent',
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
    /** From the start or arrival of the proposal to the quorum of prepares. */
    prepared: (seconds: number) => prepare.observe(seconds),
    committed: (seconds: number) => commit.observe(seconds),
    /** First vote of its kind for a round, with a valid signature. */
    voted: (validator: Hex, type: VoteType) => votes.inc({ validator, type }),
    /** One sync of the log or of the watermark. */
    synced: (file: SyncedFile, seconds: number) => syncs.observe({ file }, seconds),
    /** Seconds by which the clocks of other proposers are behind this node's. */
    skewed: (seconds: number) => skew.set(seconds),
  }
}
