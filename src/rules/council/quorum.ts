/** Number of members that may be faulty: f = floor((n-1)/3). */
export const faultsOf = (size: number): number => Math.floor((size - 1) / 3)

/** Quorum ceil(2n/3): two quorums share at least f+1 members for every n (docs/design/consensus.md#quorums). */
export const quorumOf = (size: number): number => Math.ceil((2 * size) / 3)

/** Number of places in a group of `size` for members on trial: half of those that may be faulty, and at least one. */
export const trialsOf = (size: number): number => Math.max(1, Math.floor(faultsOf(size) / 2))
