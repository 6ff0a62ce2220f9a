import type { Common } from '@ethereumjs/common'
import { getActivePrecompiles } from '@ethereumjs/evm'
import { assert } from '@tandem/base/assert.ts'
import type { Precompile } from './precompile.ts'

const kept = new WeakMap<Common, ReturnType<typeof getActivePrecompiles>>()

/** Returns EthereumJS' own precompile at the address with this number, which the fork must have. */
export const ethereumJsPrecompile = (common: Common, number: number): Precompile => {
  let all = kept.get(common)
  if (all === undefined) {
    all = getActivePrecompiles(common)
    kept.set(common, all)
  }
  const found = all.get(number.toString(16).padStart(40, '0'))
  assert(found !== undefined, 'the fork has this precompile')
  return found
}
