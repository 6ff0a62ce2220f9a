import type { Hex } from '@tandem/base/bytes.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import type { VerifiedContract } from '../../store/contract-store.ts'
import { type ContractFunction, contractFunctions } from '../../verification/abi/abi-types.ts'
import { proxyTarget } from '../../verification/proxies.ts'
import type { PageContext } from '../page-route.ts'

interface ProxyView {
  readonly kind: string
  readonly implementation: Hex | null
  /** Source code of the implementation, when it is verified. */
  readonly verified: VerifiedContract | undefined
}

/** Verified source code of a contract, and of what it is a proxy of. */
export interface ContractView {
  readonly address: Hex
  readonly own: VerifiedContract | undefined
  readonly proxy: ProxyView | undefined
}

export const contractView = async (context: PageContext, address: Hex): Promise<ContractView> => {
  const { verifier } = context.verification
  const [own, target] = await Promise.all([verifier.verified(address), proxyTarget(context, address)])
  const implementation = target?.implementation ?? null
  const verified = implementation === null ? undefined : await verifier.verified(implementation)
  return { address, own, proxy: target && { kind: target.kind, implementation, verified } }
}

/** Functions of one source of a contract, under a title. */
export interface FunctionGroup {
  readonly title: string
  readonly functions: readonly ContractFunction[]
}

const isReadFunction = ({ mutability }: ContractFunction): boolean => mutability === 'view' || mutability === 'pure'

/** Functions that read or that write, those of the implementation after the contract's own; each selector once. */
export const functionGroups = ({ own, proxy }: ContractView, reads: boolean): readonly FunctionGroup[] => {
  const seen = new Set<Hex>()
  const groupOf = (title: string, contract: VerifiedContract | undefined): FunctionGroup => ({
    title,
    functions: contractFunctions(contract === undefined ? [] : (JSON.parse(contract.abi) as readonly unknown[]))
      .filter(entry => isReadFunction(entry) === reads)
      .filter(
        ({ selector }) => !seen.has(selector) && seen.size < EXPLORER_LIMITS.contract.functions && seen.add(selector),
      ),
  })
  return [groupOf('Functions', own), groupOf('Functions of the implementation', proxy?.verified)].filter(
    ({ functions }) => functions.length > 0,
  )
}
