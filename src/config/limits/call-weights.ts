/**
 * Weights of methods in rate limits and in the budget of work in progress: about how much more they cost than a plain read, which weighs 1. A prefix stands for all methods that
 * begin with it.
 */
const WEIGHTS: readonly (readonly [prefix: string, weight: number])[] = [
  ['debug_', 50],
  ['eth_simulateV1', 50],
  ['eth_getLogs', 20],
  ['eth_getFilterLogs', 20],
  ['native_getBlockWithConsensusInfoRange', 20],
  ['native_getInternalTransfers', 5],
  ['native_getFailedTransactions', 5],
  ['eth_getProof', 20],
  ['eth_estimateGas', 10],
  ['native_estimateGas', 10],
  ['eth_createAccessList', 10],
  ['eth_call', 5],
  ['native_call', 5],
  ['eth_getBlockReceipts', 5],
  ['native_getBlockReceipts', 5],
  ['eth_feeHistory', 5],
  ['eth_sendRawTransaction', 2],
]

/** Calls from this weight on count in the work that a client may have in progress (`RPC_LIMITS.work`). */
export const HEAVY_CALL = 20

/** Returns the weight of a call in rate limits. */
export const callWeight = (method: unknown): number =>
  typeof method === 'string' ? (WEIGHTS.find(([prefix]) => method.startsWith(prefix))?.[1] ?? 1) : 1
