import type { Clock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { ConsensusEngine } from '../../consensus/engine/types.ts'
import type { CommitteePort, Head } from '../../consensus/ports.ts'
import type { RangeRules } from '../../consensus/verify-range.ts'
import type { PeerDescription } from '../../network/describe-peer.ts'
import type { Network } from '../../network/network.ts'
import type { Block, DecodedBlock } from '../../primitives/block.ts'

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
  readonly clock: Clock
  readonly logger: Logger
}
