import type { Hex } from '@tandem/base/bytes.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'

/** Number of transactions dropped since the start, by reason. */
export type PoolDrops = ReturnType<typeof noDrops>
export type DropReason = keyof PoolDrops

export const noDrops = () => ({
  /** Nonce used: included, or replaced in a block by another transaction of the same nonce. */
  stale: 0,
  /** The balance no longer pays for them. */
  unpayable: 0,
  replaced: 0,
  /** Evicted from a full pool. */
  evicted: 0,
  /** Included by no block for too long. */
  expired: 0,
  /** Their sender delegates since, and has another one ahead of them. */
  delegated: 0,
  /** The proposer could not include them, or a development tool dropped them. */
  discarded: 0,
})

/** Pooled transaction with precomputed values. */
export interface PoolEntry {
  readonly transaction: Transaction
  /** Largest cost to the sender: gasLimit x maxFeePerGas, blob cost and value, wei. */
  readonly costWei: bigint
  /** Accounts that it may make delegate (EIP-7702), with the highest nonce of their authorizations. */
  readonly authorities: ReadonlyMap<Hex, bigint>
  /** Number of slots it takes, at least 1. */
  readonly slots: number
  /** Its gas does not end it in the time of a block, or a build of this node stopped it or another heavy one of its sender. */
  mayNeverPay: boolean
  /** Admission counter; breaks ties between equal prices, older first. */
  readonly arrival: number
  /** Number of the sweep before its admission. */
  readonly sweep: number
  /** Submitted to this node rather than received from a peer: it is journaled. */
  readonly local: boolean
  /** It has been reported as executable once. */
  announced: boolean
  /** Number of the last build of this node that had no time left to try it; -1: none. */
  passedOverIn: number
}

/** Proposer's income per gas, wei; negative when the fee cap is below the base fee. */
export const proposerTip = (transaction: Transaction, baseFee: bigint): bigint => {
  const left = transaction.maxFeePerGas - baseFee
  return left < transaction.maxPriorityFeePerGas ? left : transaction.maxPriorityFeePerGas
}
