import type { Hex } from '../util/bytes.ts'

export interface AccessListEntry {
  readonly address: Hex
  readonly storageKeys: readonly Hex[]
}

export interface Authorization {
  readonly chainId: bigint
  readonly address: Hex
  readonly nonce: bigint
  readonly yParity: number
  readonly r: Uint8Array
  readonly s: Uint8Array
}

/** What the bytes of a transaction say, before its sender is recovered. */
export interface DecodedTransaction {
  /** EIP-2718 type; 3 (blobs) exists only in the fixture mode, 4 (EIP-7702) where Prague is active. */
  readonly type: 0 | 1 | 2 | 3 | 4
  /** undefined: a legacy transaction without EIP-155 replay protection. */
  readonly chainId: number | undefined
  readonly nonce: number
  readonly gasLimit: bigint
  /** Legacy and type 1: both are gasPrice. */
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  readonly to: Hex | null
  readonly value: bigint
  readonly data: Uint8Array
  readonly accessList: readonly AccessListEntry[]
  readonly authorizationList?: readonly Authorization[]
  readonly maxFeePerBlobGas?: bigint
  readonly blobVersionedHashes?: readonly Hex[]
  /** As signed: legacy 27/28 or 35/36 + 2 * chainId, typed 0/1. */
  readonly v: bigint
  /** Big-endian, without leading zeros. */
  readonly r: Uint8Array
  readonly s: Uint8Array
  /** The canonical serialisation: RLP, or the type byte and RLP. Its keccak is the hash. */
  readonly raw: Uint8Array
}

export interface Transaction extends DecodedTransaction {
  readonly hash: Hex
  /** The sender. */
  readonly from: Hex
}
