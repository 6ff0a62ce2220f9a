/** Number of transactions dropped since the start, by reason; requested drops are not counted. */
export interface PoolDrops {
  /** Nonce used: included, or replaced in a block by another transaction of the same nonce. */
  stale: number
  /** The balance no longer pays for them. */
  unpayable: number
  replaced: number
  /** Evicted from a full pool. */
  evicted: number
  /** Included by no block for too long. */
  expired: number
  /** Their sender delegates since, and has another one ahead of them. */
  delegated: number
  /** The proposer could not include them. */
  discarded: number
}

export const noDrops = (): PoolDrops => ({
  stale: 0,
  unpayable: 0,
  replaced: 0,
  evicted: 0,
  expired: 0,
  delegated: 0,
  discarded: 0,
})

export type DropReason = keyof PoolDrops
