import type { PrecompilePrice } from '../../../config/precompile-prices.ts'
import { gasForWork, wholePrice } from '../../../rules/precompile-price.ts'
import { outOfGasResult, type Precompile } from './precompile.ts'

/** Returns the precompile at another price. A failure consumes all gas. */
export const repriced = (run: Precompile, price: PrecompilePrice): Precompile => {
  const settle = (gasLimit: bigint, result: Awaited<ReturnType<Precompile>>): Awaited<ReturnType<Precompile>> => {
    const { exceptionError, executionGasUsed } = result
    return {
      ...result,
      executionGasUsed: exceptionError === undefined ? wholePrice(price, executionGasUsed) : gasLimit,
    }
  }
  return input => {
    const { gasLimit } = input
    const own = gasForWork(price, gasLimit)
    if (own === undefined) return outOfGasResult(gasLimit)
    const result = run({ ...input, gasLimit: own })
    return result instanceof Promise ? result.then(done => settle(gasLimit, done)) : settle(gasLimit, result)
  }
}
