import type { Hex } from '@tandem/base/bytes.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import type { NetworkParams } from '../networks.ts'

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

/** Validated genesis file. */
export interface Genesis {
  /** At most 32 bytes of the operator's choice. */
  readonly vanity: Uint8Array
  /** Canonical text of the parameters the file sets, without forks: part of the genesis hash (see write-genesis.ts). */
  readonly pinnedParams: string
  readonly params: NetworkParams
  /** Unix seconds of block 0. */
  readonly timestamp: number
  readonly alloc: ReadonlyMap<Hex, GenesisAccount>
  readonly council: readonly CouncilMember[]
  readonly foundation: Hex
}

/** Problem of a genesis file with its path (`alloc.0x12.balance`) and what to do about it. */
export type GenesisError = { readonly code: 'GENESIS_INVALID'; readonly path: string; readonly problem: string }
