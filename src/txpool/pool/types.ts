import type { Hex } from '@tandem/base/bytes.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import type { ChainParams } from '../../config/networks.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'
import type { SenderCode } from '../../rules/transaction.ts'

/** Account reads of the head's state; synchronous. Unknown accounts return zero. */
export interface AccountReader {
  nonce(address: Hex): Nonce
  /** Wei. */
  balance(address: Hex): bigint
  /** Omitted: not checked. */
  code?(address: Hex): SenderCode
}

/** `restored`: a local one that was acknowledged before a restart. */
export type Origin = 'local' | 'remote' | 'restored'

/**
 * Those of POOL_LIMITS, in slots of `slotBytes`: a transaction takes one for each begun slot of what it holds. Within `accountPending` slots,
 * of ready ones and as many of queued ones, all accounts are equal in a full pool.
 */
export type PoolLimits = Readonly<
  Record<
    | ('slotBytes' | 'accountPending' | 'accountQueued' | 'pending' | 'queued')
    | ('replacementBumpPercent' | 'sweepMs' | 'lifetimeSweeps'),
    number
  >
>

export interface TxPoolOptions {
  readonly params: ChainParams
  readonly accounts: AccountReader
  /** Number and base fee (wei) of the block after the head. */
  readonly number: number
  readonly baseFee: bigint
  /** Accepts legacy transactions without EIP-155 replay protection. */
  readonly allowUnprotected?: boolean
  readonly limits?: PoolLimits
}

export interface AdmitResult {
  readonly status: 'pending' | 'queued'
  /** Hash of the transaction it replaced. */
  readonly replaced: Hex | undefined
  /** Transactions executable for the first time: this one, and those for which it was the missing nonce. */
  readonly executable: readonly Transaction[]
}

/** Committed block as the pool sees it; the account reader must already return the state after it. */
export interface PoolBlock {
  /** Number of the committed block. */
  readonly number: number
  readonly transactions: readonly Transaction[]
  /** Base fee of the next block, wei. */
  readonly baseFee: bigint
  readonly nowMs: number
  /** Other accounts the block changed; without them, an account that was only paid by a contract is read again at the next sweep. */
  readonly touched?: Iterable<Hex>
  /** Not the successor of the last block: a development chain reverted blocks or edited its state, so every account is read again. */
  readonly replaced?: boolean
}

export interface PoolContent {
  readonly pending: ReadonlyMap<Hex, readonly Transaction[]>
  readonly queued: ReadonlyMap<Hex, readonly Transaction[]>
}
