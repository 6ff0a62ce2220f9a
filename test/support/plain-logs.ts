import type { Hex } from '@tandem/base/bytes.ts'

/** Which logs are wanted: no address means any, null or an empty list at a position means any topic there. */
export interface WantedLogs {
  readonly addresses: readonly Hex[]
  readonly topics: readonly (readonly Hex[] | null)[]
}

/** True when a log matches the criteria; written from the meaning of the parameters, without code of the node. */
export const isWanted = (
  { addresses, topics }: WantedLogs,
  log: { readonly address: Hex; readonly topics: readonly Hex[] },
): boolean => {
  if (addresses.length > 0 && !addresses.some(address => address === log.address)) return false
  for (let i = 0; i < topics.length; i++) {
    // A position that is asked about has to be there, whatever may stand in it.
    if (log.topics.length <= i) return false
    const any = topics[i]
    if (any !== null && any !== undefined && any.length > 0 && !any.some(topic => topic === log.topics[i])) return false
  }
  return true
}
