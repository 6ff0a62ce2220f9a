/** Namespaces that serve the same methods (docs/design/rpc.md#native-names). */
const STANDARD = /^(?:eth|native)_/

/**
 * Weights of methods in rate limits and in the budget of work in progress: about how much more they cost than a plain read, which weighs 1. A
 * prefix stands for all methods that begin with it; `*_` for both names of a standard method.
 */
const WEIGHTS: readonly (readonly [prefix: string, weight: number])[] = [
  ['debug_', 50],
  ['*_simulateV1', 50],
  ['*_getLogs', 20],
  ['*_getFilterLogs', 20],
  ['*_getBlockWithConsensusInfoRange', 20],
  ['*_getRewardShares', 20],
  ['*_getInternalTransfers', 5],
  ['*_getProof', 20],
  ['*_estimateGas', 10],
  ['*_createAccessList', 10],
  ['*_call', 5],
  ['*_getBlockReceipts', 5],
  ['*_feeHistory', 5],
  ['*_sendRawTransaction', 2],
]

/** Calls from this weight on count in the work that a client may have in progress (`RPC_LIMITS.work`). */
export const HEAVY_CALL = 20

const byEitherName = (method: string): string => method.replace(STANDARD, '*_')

/** Returns the weight of a call in rate limits. */
export const callWeight = (method: unknown): number => {
  if (typeof method !== 'string') return 1
  const name = byEitherName(method)
  return WEIGHTS.find(([prefix]) => name.startsWith(prefix))?.[1] ?? 1
}

/** Returns true for a call whose memory is charged as it grows: nothing is reserved for it. */
export const isChargedByBytes = (method: string): boolean => /^\*_get(?:Filter)?Logs$/.test(byEitherName(method))
