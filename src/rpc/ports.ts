import type { ChunkStream } from '@tandem/base/async/chunk-stream.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Economy } from '../chain/block/economy.ts'
import type { DevHelpers } from '../chain/dev/dev-helpers.ts'
import type { LogService } from '../chain/logs/log-service.ts'
import type { SimulationService } from '../chain/simulation-service.ts'
import type { ChainBlock } from '../chain/store/types.ts'
import type { AccountRangeRequest, StorageRangeRequest } from '../chain/trace/worker-protocol.ts'
import type { TypedData } from '../crypto/keys/typed-data.ts'
import type { CallRequest } from '../evm/calls/types.ts'
import type { TraceConfig } from '../evm/tracers/config.ts'
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

/** Parts of a committed block that identify it in another thread. */
export type TracedBlock = Pick<ChainBlock, 'header' | 'hash' | 'extra'>

/** JSON that another thread produces while it is read. Reading fails with CodedError<TraceError>, CallError or MISSING_STATE. */
export type TraceAnswer = ChunkStream<Uint8Array>

/** Execution with a tracer, off the main thread. */
export interface TracePort {
  transaction(block: TracedBlock, index: number, config: TraceConfig): TraceAnswer
  /** Returns a list of `{txHash, result}`. */
  block(block: TracedBlock, config: TraceConfig): TraceAnswer
  /** Traces a call on the state after the block, or after its first `after` transactions. */
  call(block: TracedBlock, call: CallRequest, after: number | undefined, config: TraceConfig): TraceAnswer
  storageRange(block: TracedBlock, range: StorageRange): TraceAnswer
  accountRange(block: TracedBlock, range: AccountRange): TraceAnswer
  /** Returns addresses that differ before the first block and after the last; `credited`: those that the protocol paid in them. */
  modifiedAccounts(blocks: readonly TracedBlock[], credited: readonly Hex[]): TraceAnswer
}

/** Range of an account's slots, ordered by keccak of the slot. */
type StorageRange = Omit<StorageRangeRequest, 'kind' | 'block'>
/** Range of accounts, ordered by keccak of the address. */
type AccountRange = Omit<AccountRangeRequest, 'kind' | 'block' | 'stateRoot'>
