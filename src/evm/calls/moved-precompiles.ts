import type { ExecutionRules } from '../../rules/execution-rules.ts'
import type { Hex } from '../../util/bytes.ts'

/**
 * Where state overrides put other things in the place of precompiles: address -> the precompile that answers there, or null for a
 * precompile that is gone. Addresses not named are as the fork has them.
 */
export type MovedPrecompiles = ReadonlyMap<Hex, Hex | null>

/** Whether a precompile answers at the address. */
export const isPrecompile = (
  { precompiles }: Pick<ExecutionRules, 'precompiles'>,
  moves: MovedPrecompiles | undefined,
  address: Hex,
): boolean => {
  const moved = moves?.get(address)
  return moved === undefined ? precompiles.has(address) : moved !== null
}
