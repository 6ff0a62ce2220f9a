import type { BlockRewards } from '../chain/block/economy.ts'
import type { DevHelpers } from '../chain/dev/dev-helpers.ts'
import type { LogText } from '../chain/logs/log-service.ts'
import type { SimulatedChainBlock } from '../chain/reads/simulation-service.ts'
import type { LogQuery } from '../chain/types.ts'
import type { TypedData } from '../crypto/typed-data.ts'
import type { SimulationRequest } from '../evm/simulate/types.ts'
import type { NodeAddress } from '../network/core/dial-scheduler.ts'
import type { PeerDescription } from '../network/describe-peer.ts'
import type { NodeDescription } from '../network/network.ts'
import type { Hex } from '../util/bytes.ts'

/** Thrown as CodedError by a Wallet. */
export type WalletError =
  | { readonly code: 'UNKNOWN_ACCOUNT'; readonly address: Hex }
  | { readonly code: 'LOCKED'; readonly address: Hex }

/** An operator's unlocked keys; a public node holds none (docs/interface.md#authentication). */
export interface Wallet {
  accounts(): readonly Hex[]
  /** Whether the account sends without a key (development chains). */
  impersonates?(address: Hex): boolean
  /** Signs a 32-byte digest: r (32 bytes), s (32 bytes), recovery bit (1 byte, 0 or 1). Throws UNKNOWN_ACCOUNT or LOCKED. */
  sign(address: Hex, digest: Uint8Array): Uint8Array | Promise<Uint8Array>
  /** Signs typed data (EIP-712): the same with 27 or 28 at the end. Throws UNKNOWN_ACCOUNT, LOCKED or TYPED_DATA_MALFORMED. */
  signTyped(address: Hex, data: TypedData): Promise<Uint8Array>
}

/** The wallet of a public node. */
export const emptyWallet = (unknown: (address: Hex) => Error): Wallet => ({
  accounts: () => [],
  sign(address) {
    throw unknown(address)
  },
  async signTyped(address) {
    throw unknown(address)
  },
})

/** What a node says of itself. */
export interface NodeInfo {
  /** `<client>/<version>/<os>-<arch>/<runtime version>` (docs/interface.md#native-methods). */
  readonly clientVersion: string
  /** What web3_clientVersion answers where that must be something else (devnet --client-name). */
  readonly web3ClientVersion?: string
  readonly protocolVersion: number
  /** The operator's address, different per node (docs/interface.md#authentication). */
  readonly coinbase: Hex
  peerCount(): number
  listening(): boolean
}

/** Whether `GET /health` may say 200; `reason` explains a false. The rest is what whoever watches a node wants at one glance. */
export interface HealthStatus {
  readonly healthy: boolean
  readonly reason?: string
  /** The head. */
  readonly number?: number
  readonly hash?: Hex
  readonly syncing?: boolean
  /** What consensus does here: voting, following (no member, or catching up), quarantined, failed, stopped. */
  readonly mode?: string
  /** Of the open height. */
  readonly round?: number
  /** Connected nodes. */
  readonly peers?: number
}

/** Supply after a block, wei: total = genesis + minted - burnt (docs/design/money.md#supply). */
export interface SupplyAt {
  readonly number: number
  readonly totalSupply: bigint
  readonly totalMinted: bigint
  readonly totalBurnt: bigint
}

/** Money questions; undefined answers mean that the block is unknown. */
export interface EconomyPort {
  rewards(number: number): Promise<BlockRewards | undefined>
  supply(number: number): Promise<SupplyAt | undefined>
}

/** A header of the proof chain as clients see it. */
export interface ProofHeaderInfo {
  readonly number: number
  readonly id: Hex
  readonly parent: Hex
  readonly miner: Hex
  readonly algorithm: string
  readonly target: Hex
  /** Unix seconds. */
  readonly timestamp: number
  /** Main-chain block that made it final; null while it is not. */
  readonly includedIn: number | null
}

/** Reads of the proof chain (docs/design/proof-chain.md). */
export interface ProofChainPort {
  /** Height of the newest header this node knows. */
  height(): number
  header(ref: number | Hex): Promise<ProofHeaderInfo | undefined>
}

/** Work for outside miners, and what this node's own miner does. */
export interface MiningPort {
  running(): boolean
  /** Hashes per second: own, and submitted by miners. */
  hashrate(): bigint
  /** [sealHash, seed, target, number], or undefined while there is no work. */
  work(coinbase: Hex | undefined): readonly [Hex, Hex, Hex, Hex] | undefined
  submitWork(nonce: Hex, sealHash: Hex, mixHash: Hex): boolean | Promise<boolean>
  submitHashrate(rate: bigint, id: Hex): boolean
}

/** Blocks of calls that nobody commits (eth_simulateV1). */
export interface SimulationPort {
  run(request: SimulationRequest, client: string): Promise<readonly SimulatedChainBlock[]>
}

/** Helpers of a development chain; its class as anything else can be it. */
export type DevPort = { readonly [Member in keyof DevHelpers]: DevHelpers[Member] }

/** Log queries over ranges of blocks in another thread, which writes the JSON too. */
export interface LogQueryPort {
  text(query: LogQuery, client: string): Promise<LogText>
}

/** The node's neighbours, for its operator (network/network.ts). */
export interface PeersPort {
  peers(): readonly PeerDescription[]
  self(): NodeDescription
  addPeer(address: NodeAddress): void
  removePeer(id: string): boolean
}
