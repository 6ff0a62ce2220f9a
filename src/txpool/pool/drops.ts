/** Why transactions left other than by a request, counted since the start. */
export interface PoolDrops {
  /** Their nonce is used: included, or overtaken by another of the same nonce. */
  stale: number
  /** The balance no longer pays for them. */
  unpayable: number
  replaced: number
  /** For want of room. */
  evicted: number
  /** Waited behind a nonce gap for too long. */
  expired: number
  /** The proposer could not include them. */
  discarded: number
  /** Their time in quarantine was over, or others needed the room. */
  quarantined: number
}

export const noDrops = (): PoolDrops => ({
  stale: 0,
  unpayable: 0,
  replaced: 0,
  evicted: 0,
  expired: 0,
  discarded: 0,
  quarantined: 0,
})
