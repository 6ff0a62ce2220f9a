import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import type { TlsFiles } from '@tandem/base/fs/tls-files.ts'
import type { Logger, LogLevel } from '@tandem/base/logger.ts'
import type { Checkpoint } from '../chain/snapshot/sync/snapshot-selector.ts'
import type { Genesis } from '../config/genesis/genesis.ts'
import type { FaucetCaps } from '../config/limits/faucet.ts'
import type { Namespace } from '../config/networks.ts'
import type { ExecutionMode } from '../evm/executor-types.ts'
import type { NetworkOptions } from '../network/identity/options.ts'
import type { ClientRules } from '../rpc/transport/clients/clients.ts'

/** Options of the connection to peers. */
export type PeerOptions = Pick<
  NetworkOptions,
  'listen' | 'advertise' | 'staticPeers' | 'bootnodes' | 'relays' | 'discovers'
> & {
  /** Verification during block sync: the certificates that prove all others (the default), or every one. */
  readonly verify?: 'tips' | 'full'
}

/** Account with a key that everybody knows. */
export interface DevAccountKey {
  readonly address: Hex
  readonly privateKey: Hex
}

/** Behaviour of a development chain where clients have different expectations (docs/dev-helpers.md). */
export interface DevBehaviour {
  /** Allows blocks made at once to share a timestamp; by default each is at least a second after its parent. */
  readonly sameTimestamps?: boolean
  /** Sending a transaction fails when it fails in its block; by default its hash is returned. */
  readonly throwOnRevert?: boolean
  /** Folder of ABIs or compiler artifacts, with the errors of contracts. */
  readonly abiFolder?: string
  /** No transaction is logged. */
  readonly isQuiet?: boolean
  /** Shown with their keys on the node's page; none when the keys are the operator's own. */
  readonly accounts?: readonly DevAccountKey[]
}

/** Options of the built-in miner of the proof chain. */
export interface MiningOptions {
  readonly coinbase: Hex
  readonly threads: number
  /** Share of their time that the threads work, above 0 and at most 1. */
  readonly duty: number
}

/** Address of the Stratum server; port 0 takes a free one. */
export interface StratumOptions {
  readonly host: string
  readonly port: number
}

/** The public port behind a proxy or without one (docs/public-node.md). */
export interface PublicPortOptions extends Omit<ClientRules, 'rateLimit'> {
  readonly socketsPerClient?: number
  readonly tls?: TlsFiles
  /** Compresses responses by gzip. */
  readonly compression?: boolean
}

/** Blocks of a segment, and those below the head that are in none. */
export interface SegmentSizes {
  readonly blocks: number
  readonly recent: number
}

/** Options of one node, as a command sets them. */
export interface NodeOptions {
  readonly genesis: Genesis
  readonly dataDir: string
  /** The chain ends with the process: nothing is synced, and only the database is written. */
  readonly ephemeral?: boolean
  readonly execution: ExecutionMode
  readonly stateHistory: number | 'archive'
  /** Blocks below the head that are kept; all when omitted. */
  readonly history?: number | undefined
  /** Sizes of segments; those of STORAGE_LIMITS by default. */
  readonly segments?: SegmentSizes
  /** Memory of the node, MiB (config/limits/storage.ts). */
  readonly memoryMib?: number
  readonly host: string
  /** 0, or none named, takes a free one. */
  readonly port?: number
  /** Replaces the network's own lists. */
  readonly namespaces?: { readonly http: readonly Namespace[]; readonly ws: readonly Namespace[] }
  readonly cors?: readonly string[]
  readonly allowHosts?: readonly string[]
  readonly rateLimitPerSecond?: number
  readonly publicPort?: PublicPortOptions
  /** Loopback-only port with every namespace; omitted: none. */
  readonly operatorPort?: number
  /** Left out: it is not served. */
  readonly explorer?: ExplorerNodeOptions
  /** The faucet on the public port (docs/faucet.md); omitted: it is not served. */
  readonly faucet?: { readonly privateKey: Uint8Array; readonly caps?: FaucetCaps }
  readonly metricsPort?: number
  /** Address of the metrics; the loopback when omitted. */
  readonly metricsHost?: string
  /** Omitted: the node has no peers. */
  readonly peers?: PeerOptions
  /** Sync mode of a chain at genesis; by default every block. */
  readonly sync?: 'full' | 'snapshot'
  /** Block that must be part of the chain, as configured by the operator. */
  readonly checkpoint?: Checkpoint
  /** Blocks between two snapshots of the state, rounded up to whole cycles; 0: none is made. */
  readonly snapshotInterval?: number
  readonly allowUnprotected: boolean
  /** Key that proposes and votes; null follows the chain. */
  readonly validatorKey: Uint8Array | null
  /** Claims the key, so that no other process of this machine signs with it on this chain. Well-known keys are not claimed. */
  readonly soleSigner?: boolean
  /** The operator's assurance that a lost consensus log held no vote that others have seen: votes instead of only following. */
  readonly trustMissingLog?: boolean
  /** Address of the operator, as eth_coinbase returns it; by default that of a key of this node. */
  readonly coinbase?: Hex
  /** Methods that the public port refuses with -32075 `Method disabled`. */
  readonly disabledMethods?: readonly string[]
  /** Name at the start of web3_clientVersion, for tools that depend on it; by default this client's own. */
  readonly clientName?: string
  readonly devnet?: DevBehaviour
  /** Omitted: the node does not mine. */
  readonly mining?: MiningOptions
  /** Omitted: no Stratum server. */
  readonly stratum?: StratumOptions
  /** Development chains: the state is loaded from this file at start, and saved to it at the end. */
  readonly stateFile?: string
  /** Unlocked keys, with which calls at the operator port are signed. */
  readonly unlocked: readonly { readonly address: Hex; readonly privateKey: Uint8Array }[]
  /** Also allows them on the public port: for well-known keys, as those of a devnet. */
  readonly publicSigning?: boolean
}

/** The explorer on the public port (docs/explorer.md). */
export interface ExplorerNodeOptions {
  /** false: the first request starts the process, and begins to fill the index. */
  readonly startsAtOnce: boolean
  /** Level of its log; info when omitted. */
  readonly logLevel?: LogLevel
  /** API keys, one a line. */
  readonly keysFile?: string
  /** Names of addresses (explorer/service/label-file.ts). */
  readonly labelsFile?: string
  /** Sources of the price of the native token (explorer/price/price-config.ts). */
  readonly priceFile?: string
  /** More compilers for verifying contracts: files as soljson-v0.8.24+commit.e11b9ed9.js. */
  readonly solcDirectory?: string
}

export interface NodeDeps {
  readonly logger: Logger
  readonly clock: Clock
  /** The node cannot continue; it has stopped signing. */
  readonly onFatal: (error: Error) => void
  /** A snapshot is complete: the node must be restarted. Omitted: it is used at the next start. */
  readonly onSnapshot?: () => void
}

export interface RunningNode {
  readonly genesisHash: Hex
  readonly urls: {
    readonly http: string
    readonly ws: string
    readonly operator?: string
    readonly metrics?: string
    /** Base address of the explorer's API. */
    readonly explorer?: string
    /** Pages of the explorer. */
    readonly pages?: string
    /** Page of the faucet, which also takes its requests. */
    readonly faucet?: string
    /** stratum+tcp://<host>:<port> for miners. */
    readonly stratum?: string
    /** tandem://<node id>@<host>:<port> for other nodes; omitted: not published. */
    readonly peer?: string
  }
  stop(): Promise<void>
}
