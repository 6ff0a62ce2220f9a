import type { Common } from '@ethereumjs/common'
import { type CustomPrecompile, EVMError, getActivePrecompiles, type PrecompileFunc, paramsEVM } from '@ethereumjs/evm'
import { Address } from '@ethereumjs/util'
import { assert } from '@tandem/base/assert.ts'
import { EMPTY_BYTES, hexToBytes } from '@tandem/base/bytes.ts'
import type { PrecompilePrice, PrecompilePrices } from '../../../config/precompile-prices.ts'
import { gasForWork, wholePrice } from '../../../rules/precompile-price.ts'
import { PRECOMPILE_REASON } from '../../failure-reasons.ts'
import { callPrecompile, type PrecompileCall, type PrecompileResult } from '../precompiles/precompile.ts'
import { PRECOMPILES } from '../precompiles/table.ts'

/** Arguments of this project's precompiles: the library's run to their end. */
export type OwnPrecompiles = Pick<PrecompileCall, 'fork' | 'check'>

type LibraryResult = Awaited<ReturnType<PrecompileFunc>>

const libraryResult = ({ output, gasUsed, failure }: PrecompileResult): LibraryResult => ({
  returnValue: output,
  executionGasUsed: gasUsed,
  ...(failure !== undefined && { exceptionError: new EVMError(failure) }),
})

const ownFunction = (number: number, price: PrecompilePrice | undefined, own: OwnPrecompiles): PrecompileFunc => {
  const precompile = PRECOMPILES.get(number)
  assert(precompile !== undefined, 'a precompile has a row')
  return ({ data, gasLimit: gas }) => {
    const result = callPrecompile(precompile, { data, gas, price, ...own })
    return result instanceof Promise ? result.then(libraryResult) : libraryResult(result)
  }
}

/** Returns the library's function at another price. A failure consumes all gas. */
const repriced =
  (run: PrecompileFunc, price: PrecompilePrice): PrecompileFunc =>
  async input => {
    const { gasLimit } = input
    const failed = { output: EMPTY_BYTES, gasUsed: gasLimit, failure: PRECOMPILE_REASON.outOfGas }
    const gas = gasForWork(price, gasLimit)
    if (gas === undefined) return libraryResult(failed)
    const result = await run({ ...input, gasLimit: gas })
    const used = result.exceptionError === undefined ? wholePrice(price, result.executionGasUsed) : gasLimit
    return { ...result, executionGasUsed: used }
  }

/** Returns those that EthereumJS' EVM needs to have a network's prices, or the functions of this project. */
export const customPrecompiles = (
  common: Common,
  prices: PrecompilePrices | null,
  own: OwnPrecompiles | undefined,
): CustomPrecompile[] => {
  common.updateParams(paramsEVM)
  return [...getActivePrecompiles(common)].flatMap(([digits, run]) => {
    const number = Number(`0x${digits}`)
    const address = new Address(hexToBytes(`0x${digits}`))
    const price = prices?.[number]
    if (price === null) return { address }
    if (own !== undefined) return { address, function: ownFunction(number, price, own) }
    return price === undefined ? [] : { address, function: repriced(run, price) }
  })
}
