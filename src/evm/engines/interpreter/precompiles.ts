import type { Common } from '@ethereumjs/common'
import { getActivePrecompiles, paramsEVM } from '@ethereumjs/evm'
import { precompileTable } from '../precompiles/table.ts'
import type { Precompiles } from './transaction/execution.ts'

const known = new WeakMap<Common, Precompiles>()

/** Returns the precompiles of a fork: this project's own, and EthereumJS' for the others. */
export const precompilesOf = (common: Common): Precompiles => {
  let found = known.get(common)
  if (found === undefined) {
    // Their prices.
    common.updateParams(paramsEVM)
    const active = getActivePrecompiles(common, precompileTable(common))
    found = new Map([...active].map(([address, run]) => [`0x${address}`, run]))
    known.set(common, found)
  }
  return found
}
