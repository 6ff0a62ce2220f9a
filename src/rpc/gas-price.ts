import type { ChainView } from '../chain/types.ts'

/** DESIGN 6: base fee x 1.10, clamped to the ceiling, wei. */
export const suggestedGasPrice = (view: ChainView): bigint => {
  const suggested = (view.nextBaseFee() * 110n) / 100n
  const ceiling = view.params.baseFee.upperBoundWei
  return suggested > ceiling ? ceiling : suggested
}
