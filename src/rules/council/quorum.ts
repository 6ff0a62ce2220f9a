/** Number of members that may be faulty: f = floor((n-1)/3). */
export const faultsOf = (size: number): number => Math.floor((size - 1) / 3)

/** Quorum ceil(2n/3): two quorums share at least f+1 members for every n (docs/design/consensus.md#quorums). */
export const quorumOf = (size: number): number => Math.ceil((2 * size) / 3)
