import type { Hex } from '@tandem/base/bytes.ts'
import type { ExecutionRules } from '../rules/execution-rules.ts'

/** Precompiles moved by state overrides: address -> the precompile there, null for a removed one; others are as in the fork. */
export type MovedPrecompiles = ReadonlyMap<Hex, Hex | null>

/** Returns true when a precompile runs at the address. */
export const isPrecompile = (
  { precompiles }: Pick<ExecutionRules, 'precompiles'>,
  moves: MovedPrecompiles | undefined,
  address: Hex,
): boolean => {
  const moved = moves?.get(address)
  return moved === undefined ? precompiles.has(address) : moved !== null
}
