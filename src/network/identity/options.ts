import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { Fork } from '../../config/forks.ts'
import type { Metrics } from '../../metrics/registry.ts'
import type { ValidatorSigner } from '../../primitives/consensus/vote.ts'
import type { NodeAddress } from '../core/dial-scheduler.ts'
import type { NodeKey } from '../transport/node-key.ts'

export interface NetworkOptions {
  readonly chainId: number
  readonly genesisHash: Hex
  readonly forks: readonly Fork[]
  readonly nodeKey: NodeKey
  readonly clientVersion: string
  /** null: accepts no connections. Port 0 picks a free one. */
  readonly listen: { readonly host: string; readonly port: number } | null
  /** An IP address under which others reach this node; by default the one it listens on, if it names one. */
  readonly advertise?: { readonly host: string; readonly port?: number }
  /** Redialed without end, in reserved slots. */
  readonly staticPeers?: readonly NodeAddress[]
  /** Nodes to dial when no others are known. */
  readonly bootnodes?: readonly NodeAddress[]
  /** Node ids that relay for this validator (sentries); of a sentry: further ones. */
  readonly relays?: readonly string[]
  /** false: dials only static peers, requests no records and publishes no address, as a validator behind sentries does. */
  readonly discovers?: boolean
  /** Named in the node's record, so that other members dial it; null: this node is no validator. */
  readonly validator: ValidatorSigner | null
  /** File with peer scores and records; null: nothing is saved. */
  readonly storePath: string | null
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics?: Metrics
  /** Replaces NETWORK_LIMITS. */
  readonly limits?: PeerLimits
}

type PeerLimits = {
  readonly [Name in
    | 'inbound'
    | 'outbound'
    | 'reserved'
    | 'perAddress'
    | 'pending'
    | 'pendingPerAddress'
    | 'connectsPerSecond'
    | 'connectsBurst'
    | 'backoffMs'
    | 'handshakeMs'
    | 'messageMs'
    | 'silenceMs']?: number
}
