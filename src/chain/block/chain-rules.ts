import { blockFromParts } from '../../primitives/block.ts'
import { nativeExtra, nativePrices } from '../store/block-store.ts'
import type { ChainRules } from '../store/rules-port.ts'
import { type BlockEnvSources, committedEnv, simulatedChildEnv } from './block-env.ts'
import { assembleHeader } from './header-assembly.ts'

/** Rules of this node's own chain. */
export const nativeRules = (sources: BlockEnvSources): ChainRules => ({
  extraOf: nativeExtra,
  pricesOf: nativePrices,
  childEnv: (parent, block) => simulatedChildEnv(sources, parent, block),
  committedEnv: ({ header, extra, hash }) => committedEnv(sources, header, extra.proposer, hash),
  assemble: (env, parent, extra, execution, blockRoots) =>
    blockFromParts(assembleHeader(env, parent, extra, execution, blockRoots), {
      transactions: execution.transactions,
      proofHeaders: [],
      evidence: [],
    }),
})
