import type { PrecompilePrice } from '../config/precompile-prices.ts'

/** Returns the gas that the work itself may use of all gas; undefined where the fixed part of the price is not paid. */
export const gasForWork = ({ times, plus }: PrecompilePrice, gas: bigint): bigint | undefined =>
  gas < plus ? undefined : (gas - plus) / times

/** Returns the whole price of work that used so much by the fork's own price. */
export const wholePrice = ({ times, plus }: PrecompilePrice, used: bigint): bigint => used * times + plus
