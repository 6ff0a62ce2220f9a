import type { Hex } from '@tandem/base/bytes.ts'
import type { Nonce, Uint64 } from '@tandem/base/uint64.ts'
import type { AccessListEntry, Authorization } from '../../../primitives/transaction/transaction.ts'

/** Decoded call object of docs/interface.md#call. */
export interface CallMessage {
  readonly from: Hex
  readonly to: Hex | null
  readonly gas?: bigint
  readonly gasPrice?: bigint
  readonly maxFeePerGas?: bigint
  readonly maxPriorityFeePerGas?: bigint
  readonly value: bigint
  readonly data: Uint8Array
  readonly accessList?: readonly AccessListEntry[]
  /** EIP-7702; no effect where that is not active. */
  readonly authorizationList?: readonly Authorization[]
  readonly nonce?: Nonce
  /** Has to be that of the chain. */
  readonly chainId?: bigint
}

/** geth-style state override of one account; `state` replaces all slots, `stateDiff` only those listed. */
export interface AccountOverride {
  readonly balance?: bigint
  readonly nonce?: Nonce
  readonly code?: Uint8Array
  readonly state?: Readonly<Record<Hex, Hex>>
  readonly stateDiff?: Readonly<Record<Hex, Hex>>
  /** Moves the precompile at this account to another address. */
  readonly movePrecompileTo?: Hex
}
export type StateOverrides = Readonly<Record<Hex, AccountOverride>>

export interface BlockOverrides {
  readonly number?: Uint64
  readonly timestamp?: Uint64
  readonly gasLimit?: bigint
  readonly miner?: Hex
  readonly prevRandao?: Hex
  readonly baseFeePerGas?: bigint
  readonly blobBaseFeePerGas?: bigint
}
