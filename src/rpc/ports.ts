import type { Hex } from '@tandem/base/bytes.ts'
import type { Economy } from '../chain/block/economy.ts'
import type { DevHelpers } from '../chain/dev/dev-helpers.ts'
import type { LogService } from '../chain/logs/log-service.ts'
import type { SimulationService } from '../chain/simulation-service.ts'
import type { TypedData } from '../crypto/keys/typed-data.ts'
import type { Network } from '../network/network.ts'
import type { MiningService } from '../powchain/mining/mining-service.ts'

/** Errors of a Wallet, thrown as CodedError. */
export type WalletError =
  | { readonly code: 'UNKNOWN_ACCOUNT'; readonly address: Hex }
  | { readonly code: 'LOCKED'; readonly address: Hex }

/** Unlocked keys of the operator; a public node holds none (docs/interface.md#authentication). */
export interface Wallet {
  accounts(): readonly Hex[]
  /** Returns true when the account sends without a key (development chains). */
  impersonates?(address: Hex): boolean
  /** Signs a 32-byte digest: r (32 bytes), s (32 bytes), recovery bit (1 byte, 0 or 1). Throws UNKNOWN_ACCOUNT or LOCKED. */
  sign(address: Hex, digest: Uint8Array): Uint8Array | Promise<Uint8Array>
  /** Signs typed data (EIP-712): r, s and 27 or 28. Throws UNKNOWN_ACCOUNT, LOCKED or TYPED_DATA_MALFORMED. */
  signTyped(address: Hex, data: TypedData): Promise<Uint8Array>
}

/** Identity and status of the node, as methods report it. */
export interface NodeInfo {
  /** `<client>/<version>/<os>-<arch>/<runtime version>` (docs/interface.md#native-methods). */
  readonly clientVersion: string
  /** Overrides the result of web3_clientVersion (devnet --client-name). */
  readonly web3ClientVersion?: string
  readonly protocolVersion: number
  /** Address of the operator, different per node (docs/interface.md#authentication). */
  readonly coinbase: Hex
  peerCount(): number
  listening(): boolean
}

/** Health of the node: `GET /health` returns 200 when `healthy`; `reason` explains a false. The rest is a summary for monitoring. */
export interface HealthStatus {
  readonly healthy: boolean
  readonly reason?: string
  /** Number of the head. */
  readonly number?: number
  readonly hash?: Hex
  readonly syncing?: boolean
  /** Mode of consensus: voting, following (not a member, or catching up), quarantined, failed, stopped. */
  readonly mode?: string
  /** Round of the open height. */
  readonly round?: number
  /** Number of connected peers. */
  readonly peers?: number
  /** Height to reach by the heads of the peers; null while none is known. Absent on a node without peers. */
  readonly target?: number | null
}

/** Reads of the economy; undefined when the block is unknown. */
export type EconomyPort = Pick<Economy, 'rewards' | 'shares' | 'schedule' | 'supply'>

/** Header of the proof chain as clients see it. */
export interface ProofHeaderInfo {
  readonly number: number
  readonly id: Hex
  readonly parent: Hex
  readonly miner: Hex
  readonly algorithm: string
  readonly target: Hex
  /** Main block that the header commits to. */
  readonly anchorNumber: number
  readonly anchorHash: Hex
  readonly extraNonce: Hex
  readonly nonce: Hex
  /** Argon2id hash; empty for the first hash function. */
  readonly mixHash: Hex
  /** Unix seconds. */
  readonly timestamp: number
  /** Main-chain block that made the header final; null while it is not. */
  readonly includedIn: number | null
}

/** Reads of the proof chain (docs/design/proof-chain.md). */
export interface ProofChainPort {
  /** Height of the newest known header. */
  height(): number
  header(ref: number | Hex): Promise<ProofHeaderInfo | undefined>
}

/** Work for external miners, and the status of this node's own miner. */
export type MiningPort = Pick<
  MiningService,
  'running' | 'hashrate' | 'work' | 'submitWork' | 'submitHashrate' | 'onWork'
>

/** Blocks of calls that are never committed (eth_simulateV1). */
export type SimulationPort = Pick<SimulationService, 'run'>

/** Helpers of a development chain; a mapped type, so that other objects than the class can implement it. */
export type DevPort = Pick<DevHelpers, keyof DevHelpers>

/** Log queries over block ranges in another thread, which also writes the JSON. */
export type LogQueryPort = Pick<LogService, 'text'>

/** Peers of the node, for its operator. */
export type PeersPort = Pick<Network, 'peers' | 'self' | 'addPeer' | 'removePeer'>
