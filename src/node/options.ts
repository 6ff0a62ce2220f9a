import type { Checkpoint } from '../chain/snapshot/sync/snapshot-sync.ts'
import type { Genesis } from '../config/genesis.ts'
import type { Namespace } from '../config/networks.ts'
import type { EngineName } from '../evm/engines/select-engine.ts'
import type { ExecutionMode } from '../evm/executor.ts'
import type { NetworkOptions } from '../network/options.ts'
import type { Hex } from '../util/bytes.ts'
import type { Clock } from '../util/clock.ts'
import type { Logger } from '../util/logger.ts'

/** How a node meets its peers. */
export type PeerOptions = Pick<
  NetworkOptions,
  'listen' | 'advertise' | 'staticPeers' | 'bootnodes' | 'relays' | 'discovers'
> & {
  /** Of blocks that are caught up: the certificates that prove all others (the default), or every one. */
  readonly verify?: 'tips' | 'full'
}

/** How a development chain behaves where clients expect different things (docs/dev-helpers.md). */
export interface DevnetHabits {
  /** Blocks that are made at once may share a timestamp; left out: each is a second after its parent at least. */
  readonly sameTimestamps?: boolean
  /** Sending a transaction fails when it fails in its block; left out: it is answered with its hash. */
  readonly throwOnRevert?: boolean
}

/** One node, as a command describes it. */
export interface NodeOptions {
  readonly genesis: Genesis
  readonly dataDir: string
  /** The chain ends with the process: nothing waits for the disk, and nothing but the database is written. */
  readonly ephemeral?: boolean
  readonly execution: ExecutionMode
  /** Runs code; the default engine when left out. */
  readonly evm?: EngineName
  readonly stateHistory: number | 'archive'
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  /** Instead of the network's own lists. */
  readonly namespaces?: { readonly http: readonly Namespace[]; readonly ws: readonly Namespace[] }
  readonly cors?: readonly string[]
  readonly allowHosts?: readonly string[]
  readonly rateLimitPerSecond?: number
  /** Loopback-only port with every namespace; left out: none. */
  readonly operatorPort?: number
  readonly metricsPort?: number
  /** Left out: the node stands alone. */
  readonly peers?: PeerOptions
  /** How a chain at genesis gets to the head of its peers; every block when left out. */
  readonly sync?: 'full' | 'snapshot'
  /** A block that must be of the chain, by the operator's word. */
  readonly checkpoint?: Checkpoint
  /** Blocks between two snapshots of the state, rounded up to whole cycles; 0: none is made. */
  readonly snapshotInterval?: number
  readonly allowUnprotected: boolean
  /** The key that proposes and votes; null follows the chain. */
  readonly validatorKey: Uint8Array | null
  /** No other process of this machine may sign with that key on this chain. Keys that everybody knows have no such claim. */
  readonly soleSigner?: boolean
  /** The operator's word that a lost consensus log held no vote that others have seen: vote on instead of only following. */
  readonly trustMissingLog?: boolean
  /** The name web3_clientVersion begins with, for tools that go by it; its own by default. */
  readonly clientName?: string
  readonly devnet?: DevnetHabits
  /** Development chains: the state is loaded from this file at the start, and written to it at the end. */
  readonly stateFile?: string
  /** Unlocked keys: calls at the operator port are signed with them. */
  readonly unlocked: readonly { readonly address: Hex; readonly privateKey: Uint8Array }[]
  /** Those at the public port as well: for keys that everybody knows, as those of a devnet. */
  readonly publicSigning?: boolean
}

export interface NodeDeps {
  readonly logger: Logger
  readonly clock: Clock
  /** The node can no longer go on; it has stopped signing. */
  readonly onFatal: (error: Error) => void
  /** A snapshot is whole: the node is to be stopped and started anew. Left out: it will be the next time. */
  readonly onSnapshot?: () => void
}

export interface RunningNode {
  readonly genesisHash: Hex
  readonly urls: {
    readonly http: string
    readonly ws: string
    readonly operator?: string
    readonly metrics?: string
    /** tandem://<node id>@<host>:<port>, where others reach it; left out: nobody is told. */
    readonly peer?: string
  }
  stop(): Promise<void>
}
