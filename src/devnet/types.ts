import type { EventEmitter } from 'node:events'

/* Types of `tandem/devnet`. The package has this file as its declarations (scripts/build.ts), so it imports nothing of this program. */

/** Funded account. */
export interface DevAccount {
  /** With the checksum of EIP-55. */
  readonly address: `0x${string}`
  readonly privateKey: `0x${string}`
}

/** Options of a development chain, as the command and `createDevnet` take them. */
export interface DevnetOptions {
  /** Seconds between blocks; 0: a block at once per transaction. */
  readonly blockTime: number
  /** Number of funded accounts. */
  readonly accounts: number
  /** Balance of each at the start, wei. */
  readonly balance: bigint
  /** BIP-39 mnemonic of the accounts; the well-known test mnemonic by default. */
  readonly mnemonic?: string
  /** 1998999 by default, 31337 with `ethereum`. */
  readonly chainId?: number
  /** Newest fork of the rules; osaka by default. */
  readonly hardfork?: 'cancun' | 'prague' | 'osaka'
  /** Ethereum's gas, limits and base fee. */
  readonly ethereum: boolean
  /** The chain signs for its accounts (eth_accounts, eth_sendTransaction). */
  readonly unlock: boolean
  /** Start of web3_clientVersion. */
  readonly clientName?: 'anvil' | 'hardhat'
  /** Blocks of one second may share its timestamp. */
  readonly sameTimestamps: boolean
  /** Largest code of a contract, bytes. */
  readonly codeSizeLimit?: number
  /** Sending a transaction that fails in its block is an error. */
  readonly throwOnRevert: boolean
  /** With the well-known contracts (CREATE2 deployer, Multicall3, Permit2, EntryPoints). */
  readonly predeploys: boolean
}

/** Options as the command's; a block at once for each transaction, and unlocked accounts, unless said otherwise. */
export type CreateDevnetOptions = Partial<DevnetOptions>

/** Request of EIP-1193. */
export interface RequestArguments {
  readonly method: string
  readonly params?: readonly unknown[] | object
}

/**
 * Provider of EIP-1193 over the chain of this process, without HTTP. Its events are `message` for subscriptions (eth_subscribe),
 * `connect`, and `disconnect` when the chain is closed. Requests fail with a ProviderRpcError: an Error with the code, message and data of
 * the JSON-RPC error, or with code 4900 once the chain is closed.
 */
export interface Provider extends EventEmitter {
  // As of libraries, whose types say more of each method.
  // biome-ignore lint/suspicious/noExplicitAny: EIP-1193 types results so
  request(request: RequestArguments): Promise<any>
}

/** Development chain inside this process. */
export interface Devnet extends AsyncDisposable {
  /** For custom(provider) of viem, BrowserProvider of ethers and the like. */
  readonly provider: Provider
  readonly chainId: number
  readonly accounts: readonly DevAccount[]
  /** Mines `count` blocks (1), whose timestamps are `interval` seconds apart (1). */
  mine(count?: number, interval?: number): Promise<void>
  /** Returns the id of a snapshot, for one `revert`. */
  snapshot(): Promise<string>
  /** Returns to a snapshot, which is gone then. Throws when there is none of this id. */
  revert(id: string): Promise<void>
  /** Opens HTTP and WebSocket, by default on a free port of the loopback; returns their URLs. Throws when the port is in use. */
  listen(place?: {
    readonly host?: string
    readonly port?: number
  }): Promise<{ readonly http: string; readonly ws: string }>
  /** Frees everything; what is under way fails. */
  close(): Promise<void>
}

/** Starts a chain in memory, without port, folder or thread until one is needed; any number may run. Throws for options that make none. */
export type CreateDevnet = (options?: CreateDevnetOptions) => Promise<Devnet>
