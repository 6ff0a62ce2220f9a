import type { Hex } from '@tandem/base/bytes.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import type { BlobParams } from '../forks.ts'
import type { NetworkName, NetworkParams } from '../networks.ts'

/** Validator as registered. */
export interface CouncilMember {
  readonly name: string
  /** Address that votes and proposes. */
  readonly validator: Hex
  /** Account that owns the stake and votes on admissions. */
  readonly owner: Hex
  /** Address that receives its rewards. */
  readonly reward: Hex
  /** Number of its admission to the council, never reused; those of genesis have 1, 2, ... in order. */
  readonly admission: number
  readonly stakeWei: bigint
}

/** Account of block 0. */
export interface GenesisAccount {
  readonly balance: bigint
  readonly nonce: Nonce
  readonly code: Uint8Array
  /** 32-byte slot -> 32-byte word; no zero words. */
  readonly storage: ReadonlyMap<Hex, Hex>
}

/** Header members of block 0 that a genesis file sets; the others follow from the state and the forks. */
export interface GenesisHeaderFields {
  readonly parentHash: Hex
  readonly miner: Hex
  readonly difficulty: bigint
  readonly number: number
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  readonly timestamp: number
  readonly mixHash: Hex
  readonly nonce: Hex
  /** undefined: London is not active at block 0. */
  readonly baseFeePerGas?: bigint
  readonly blobGasUsed?: bigint
  readonly excessBlobGas?: bigint
}

/** Fork of a geth-style genesis that starts at a time, which only fixture mode supports. */
export interface TimeFork {
  readonly name: string
  /** Unix seconds. */
  readonly time: number
}

/** Genesis values without a header member of their own, by file format. */
export type GenesisStyle =
  | {
      readonly format: 'tandem'
      readonly network: NetworkName
      /** At most 32 bytes of the operator's choice. */
      readonly vanity: Uint8Array
      /** Canonical text of the parameters the file sets, without forks: part of the genesis hash (see genesis-block.ts). */
      readonly pinnedParams: string
    }
  | {
      readonly format: 'geth'
      readonly extraData: Uint8Array
      /** null: never, or from the start when `paris` is in the forks. */
      readonly terminalTotalDifficulty: bigint | null
      /** Ascending by time. */
      readonly timeForks: readonly TimeFork[]
      /** Blob parameters by fork, where the file sets them (EIP-7840). */
      readonly blobSchedule: ReadonlyMap<string, BlobParams>
      /** Contract whose logs are deposits (EIP-6110). */
      readonly depositContract: Hex
      /** The file as read, for the EthereumJS oracle. */
      readonly document: unknown
    }

/** Validated genesis file. */
export interface Genesis {
  readonly style: GenesisStyle
  readonly params: NetworkParams
  readonly header: GenesisHeaderFields
  readonly alloc: ReadonlyMap<Hex, GenesisAccount>
  /** Empty for a geth-style file. */
  readonly council: readonly CouncilMember[]
  /** The zero address for a geth-style file. */
  readonly foundation: Hex
}

/** Problem of a genesis file with its path (`alloc.0x12.balance`) and what to do about it. */
export type GenesisError = { readonly code: 'GENESIS_INVALID'; readonly path: string; readonly problem: string }
