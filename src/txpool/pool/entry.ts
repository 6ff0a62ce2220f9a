import type { Transaction } from '../../primitives/transaction.ts'
import { maxBlobFee } from '../../rules/ethereum/blob-fee.ts'

/** A pooled transaction with what the pool must not compute twice. */
export interface PoolEntry {
  readonly transaction: Transaction
  /** What the sender must own for it at most: gasLimit x maxFeePerGas, what its blobs cost, value, wei. */
  readonly costWei: bigint
  /** How much room it takes, at least 1. */
  readonly slots: number
  /** Counts admissions; breaks ties between equal prices, older first. */
  readonly arrival: number
  /** Submitted here rather than heard from a peer: it goes to the journal. */
  readonly local: boolean
  /** It has been reported as executable once. */
  announced: boolean
  /** It waits, and those of its sender behind it, until its time in quarantine is over. */
  quarantined: boolean
}

/** What the proposer earns per gas, wei; negative when the cap does not reach the base fee. */
export const proposerTip = (transaction: Transaction, baseFee: bigint): bigint => {
  const left = transaction.maxFeePerGas - baseFee
  return left < transaction.maxPriorityFeePerGas ? left : transaction.maxPriorityFeePerGas
}

export const maxCostWei = (transaction: Transaction): bigint =>
  transaction.gasLimit * transaction.maxFeePerGas + maxBlobFee(transaction) + transaction.value
