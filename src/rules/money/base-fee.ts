import { type BaseFeeParams, INITIAL_BASE_FEE } from '../../config/networks.ts'
import type { Header } from '../../primitives/header.ts'

const ELASTICITY = 2n
const DENOMINATOR = 8n

/** Base fee of a block from its parent's header, wei per gas (EIP-1559); the parent of the first such block has none. */
const eip1559BaseFee = (parent: Pick<Header, 'gasLimit' | 'gasUsed' | 'baseFeePerGas'>): bigint => {
  const { baseFeePerGas: base, gasUsed } = parent
  if (base === undefined) return INITIAL_BASE_FEE
  const target = parent.gasLimit / ELASTICITY
  if (gasUsed === target) return base
  if (gasUsed < target) return base - (base * (target - gasUsed)) / target / DENOMINATOR
  const rise = (base * (gasUsed - target)) / target / DENOMINATOR
  return base + (rise > 0n ? rise : 1n)
}

type BaseFeeParent = Pick<Header, 'number' | 'gasLimit' | 'gasUsed' | 'baseFeePerGas'>

/**
 * Base fee of a block from its parent's header, wei per gas: KIP-71 with an even result (docs/design/money.md#base-fee). It
 * moves by at most 1/denominator a block and stays inside the bounds; the child of genesis starts at the floor. A chain with
 * Ethereum's rule follows EIP-1559.
 */
export const nextBaseFee = (parent: BaseFeeParent, params: BaseFeeParams): bigint => {
  if (params.rule === 'eip1559') return eip1559BaseFee(parent)
  const lower = evenFloor(params)
  if (parent.number === 0 || parent.baseFeePerGas === undefined) return lower
  const upper = evenCeiling(params)
  const base = clamp(parent.baseFeePerGas, lower, upper)
  const used = min(parent.gasUsed, params.maxBlockGasUsed)
  const target = params.gasTarget
  if (used === target) return even(base)
  if (used > target) {
    const delta = step(base, used - target, params)
    return even(min(base + (delta > 0n ? delta : 1n), upper))
  }
  return even(max(base - step(base, target - used, params), lower))
}

const step = (base: bigint, distance: bigint, params: BaseFeeParams): bigint =>
  (base * distance) / params.gasTarget / params.denominator

/** Lowest possible base fee: the lower bound, rounded up to even. */
const evenFloor = (params: BaseFeeParams): bigint => params.lowerBoundWei + (params.lowerBoundWei & 1n)

/** Highest possible base fee: the upper bound, rounded down to even. */
const evenCeiling = (params: BaseFeeParams): bigint => even(params.upperBoundWei)

const even = (value: bigint): bigint => value - (value & 1n)
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const clamp = (value: bigint, lower: bigint, upper: bigint): bigint => min(max(value, lower), upper)

/** Gas at which a block counts as full for the base fee: above it the fee rises no faster. */
export const baseFeeGasCap = ({ gasLimit }: Pick<Header, 'gasLimit'>, params: BaseFeeParams): bigint =>
  params.rule === 'eip1559' ? gasLimit : params.maxBlockGasUsed

/** Price suggested on a base fee: 10 % above, at most the ceiling (docs/design/money.md#suggested-price). Wei per gas. */
export const suggestedGasPrice = (baseFeePerGas: bigint, params: BaseFeeParams): bigint =>
  min((baseFeePerGas * 110n) / 100n, params.upperBoundWei)
