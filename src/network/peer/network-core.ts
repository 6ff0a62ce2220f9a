import type { Clock } from '@tandem/base/clock.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { COUNCIL_BOUNDS } from '../../config/protocol-bounds.ts'
import { DialScheduler } from '../core/dial-scheduler.ts'
import { createNetworkMetrics, type NetworkSizes } from '../core/metrics.ts'
import { PeerScores } from '../core/peer-scores.ts'
import { Identity } from '../identity/identity.ts'
import type { NetworkOptions } from '../identity/options.ts'
import type { NetworkPorts } from '../messages/ports.ts'

/** Records in all buckets, and those of members beside them. */
const MOST_RECORDS =
  (NETWORK_LIMITS.newBuckets + NETWORK_LIMITS.triedBuckets) * NETWORK_LIMITS.bucketRecords +
  NETWORK_LIMITS.recordsPerValidator * COUNCIL_BOUNDS.members

/** Functions of later parts that the core calls once the network runs. */
interface CoreCallbacks {
  /** Returns true when a node claims to represent a committee member. */
  isMember(id: string): boolean
  readonly records: ConstructorParameters<typeof DialScheduler>[2]
  sizes(): NetworkSizes
}

/** Parts that need no peers, and what all others share: options, ports, limits, identity, scores and the dial scheduler. */
export type NetworkCore = ReturnType<typeof createNetworkCore>

/** Time of scores and bans: the wall clock at the start, and from then on one that nobody sets. */
const steadyTime = (clock: Clock): Pick<Clock, 'nowMs'> => {
  const startMs = clock.nowMs() - performance.now()
  return { nowMs: () => startMs + performance.now() }
}

/** Creates the parts that need no peers. */
export const createNetworkCore = (
  options: NetworkOptions,
  { chain, members }: NetworkPorts,
  { isMember, records, sizes }: CoreCallbacks,
) => {
  const limits = { ...NETWORK_LIMITS, ...options.limits }
  const statics = new Set(options.staticPeers?.map(({ id }) => id))
  const identity = new Identity(options, chain, statics)
  return {
    chain,
    members,
    limits,
    identity,
    /** Ids of the peers that the operator named, as they change. */
    statics,
    /** Ids of nodes that may relay consensus without being members, named by the operator. */
    relays: new Set(options.relays),
    validator: options.validator,
    discovers: options.discovers ?? true,
    logger: options.logger,
    /** Returns a number between 0 and 1. */
    random: Math.random,
    clock: steadyTime(options.clock),
    channelIdentity: { key: options.nodeKey, domain: identity.domain },
    scores: new PeerScores({ ...limits, entries: limits.peerScores }),
    dialScheduler: new DialScheduler({ ...limits, entries: MOST_RECORDS + limits.staticPeers }, isMember, records),
    metrics: options.metrics && createNetworkMetrics(options.metrics, sizes),
  }
}
