import type { Cancellation } from '@tandem/base/async/cancellation.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { BlockRewards, BlockShares } from '../chain/block/economy.ts'
import type { DevHelpers } from '../chain/dev/dev-helpers.ts'
import type { LogText } from '../chain/logs/log-service.ts'
import type { SimulatedChainBlock } from '../chain/simulation-service.ts'
import type { LogQuery } from '../chain/store/types.ts'
import type { TypedData } from '../crypto/keys/typed-data.ts'
import type { SimulationRequest } from '../evm/calls/simulate/types.ts'
import type { NodeAddress } from '../network/core/dial-scheduler.ts'
import type { PeerDescription } from '../network/describe-peer.ts'
import type { NodeDescription } from '../network/network.ts'
import type { SupplySchedule } from '../rules/money/supply.ts'

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

/** Supply after a block, wei: total = genesis + minted - burnt (docs/design/money.md#supply). */
interface SupplyAt {
  readonly number: number
  readonly totalSupply: bigint
  readonly totalMinted: bigint
  readonly totalBurnt: bigint
}

/** Reads of the economy; undefined when the block is unknown. */
export interface EconomyPort {
  rewards(number: number): Promise<BlockRewards | undefined>
  shares(number: number): Promise<BlockShares | undefined>
  /** Periods of the reward from the first one on, at most `limit` of them. */
  schedule(limit: number): SupplySchedule
  supply(number: number): Promise<SupplyAt | undefined>
}

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
export interface MiningPort {
  running(): boolean
  /** Hashes per second: of the node's own miner and as reported by external miners. */
  hashrate(): bigint
  /** Returns [sealHash, seed, target, number]; undefined while there is no work. */
  work(coinbase: Hex | undefined): readonly [Hex, Hex, Hex, Hex] | undefined
  submitWork(nonce: Hex, sealHash: Hex, mixHash: Hex): boolean | Promise<boolean>
  submitHashrate(rate: bigint, id: Hex): boolean
  /** Calls back when work may have changed; returns the unsubscribe function. */
  onWork(listener: () => void): () => void
}

/** Blocks of calls that are never committed (eth_simulateV1). */
export interface SimulationPort {
  run(request: SimulationRequest, client: string, cancellation?: Cancellation): Promise<readonly SimulatedChainBlock[]>
}

/** Interface of the helpers of a development chain; a mapped type, so that other objects than the class can implement it. */
export type DevPort = { readonly [Member in keyof DevHelpers]: DevHelpers[Member] }

/** Log queries over block ranges in another thread, which also writes the JSON. */
export interface LogQueryPort {
  /** Rejects with Cancelled when cancelled. `charge` gets the bytes of the result so far, as it grows; what it throws ends the query. */
  text(query: LogQuery, client: string, cancellation?: Cancellation, charge?: (bytes: number) => void): Promise<LogText>
}

/** Peers of the node, for its operator (network/network.ts). */
export interface PeersPort {
  peers(): readonly PeerDescription[]
  self(): NodeDescription
  addPeer(address: NodeAddress): void
  removePeer(id: string): boolean
}
