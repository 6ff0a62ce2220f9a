import { INITIAL_BASE_FEE } from '../../config/genesis/geth-format.ts'
import type { Header } from '../../primitives/header.ts'

const ELASTICITY = 2n
const DENOMINATOR = 8n

/** Base fee of a block from its parent's header, wei per gas (EIP-1559); the parent of the first such block has none. */
export const eip1559BaseFee = (parent: Pick<Header, 'gasLimit' | 'gasUsed' | 'baseFeePerGas'>): bigint => {
  const { baseFeePerGas: base, gasUsed } = parent
  if (base === undefined) return INITIAL_BASE_FEE
  const target = parent.gasLimit / ELASTICITY
  if (gasUsed === target) return base
  if (gasUsed < target) return base - (base * (target - gasUsed)) / target / DENOMINATOR
  const rise = (base * (gasUsed - target)) / target / DENOMINATOR
  return base + (rise > 0n ? rise : 1n)
}
