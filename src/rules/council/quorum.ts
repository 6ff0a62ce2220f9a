/** Number of members that may be faulty: f = floor((n-1)/3). */
export const faultsOf = (size: number): number => Math.floor((size - 1) / 3)

/** Quorum ceil(2n/3): two quorums share at least f+1 members for every n (docs/design/consensus.md#quorums). */
export const quorumOf = (size: number): number => Math.ceil((2 * size) / 3)

/** Number of places in a group of `size` for members on trial: half of those that may be faulty, and at least one. */
export const trialsOf = (size: number): number => Math.max(1, Math.floor(faultsOf(size) / 2))

/** Probability in each cycle of a sampled committee with more than f faulty members that a council accepts: once in two years. */
const SAMPLE_RISK = 1e-6

/** Returns the probability that of `size` members drawn from a council with some `faulty` ones more than f are faulty. */
const sampleRisk = (council: number, size: number, faulty: number): number => {
  // By the number of faulty ones among those drawn so far.
  let odds = [1]
  for (let drawn = 0; drawn < size; drawn++)
    odds = Array.from({ length: drawn + 2 }, (_, bad) => {
      const honest = (odds[bad] ?? 0) * (council - faulty - drawn + bad)
      return (honest + (odds[bad - 1] ?? 0) * (faulty - bad + 1)) / (council - drawn)
    })
  return odds.slice(faultsOf(size) + 1).reduce((sum, share) => sum + share, 0)
}

/** Number of faulty or offline members that a council tolerates: f where all serve, a smaller share where each cycle draws a sample. */
export const toleratedFaults = (council: number, committeeSize: number): number => {
  const size = Math.min(council, committeeSize)
  let faulty = faultsOf(size)
  while (faulty < council && sampleRisk(council, size, faulty + 1) <= SAMPLE_RISK) faulty++
  return faulty
}
