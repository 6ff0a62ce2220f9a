import type { Patch } from '../patch.ts'

/** Changes to the sources of a Byzantine node; the blocks come from `globalThis.byzantineBlocks`. */
export const BYZANTINE_PATCHES: readonly Patch[] = [
  // Its candidates are its own, and it has all the time there is.
  {
    file: 'chain/block/block-work.ts',
    find: 'pool.select(env.baseFeePerGas), budget, credits)',
    replace:
      'globalThis.byzantineBlocks.candidates(env, journal) ?? pool.select(env.baseFeePerGas), globalThis.byzantineBlocks.budget(budget), credits)',
  },
  {
    file: 'chain/block/block-work.ts',
    find: 'const header = assembleHeader(env, parent, extra, execution, blockRoots)\n',
    replace:
      'const header = globalThis.byzantineBlocks.header(assembleHeader(env, parent, extra, execution, blockRoots))\n',
  },
  // The node knows the results of its own transactions without running them.
  {
    file: 'evm/block/run-transaction.ts',
    find: 'engine.run(journal, env, message, options)',
    replace: 'globalThis.byzantineBlocks.resultOf(message) ?? engine.run(journal, env, message, options)',
  },
  {
    file: 'rules/transaction.ts',
    find: "  return have > limit ? { code: 'BLOCK_GAS_EXCEEDED'",
    replace:
      "  if (globalThis.byzantineBlocks?.ignoresTheBound()) return undefined\n  return have > limit ? { code: 'BLOCK_GAS_EXCEEDED'",
  },
  {
    file: 'evm/block/block-builder.ts',
    find: 'gasUsed + SMALLEST_TRANSACTION_GAS <= env.params.maxBlockExecutionGas',
    replace:
      '(globalThis.byzantineBlocks.ignoresTheBound() || gasUsed + SMALLEST_TRANSACTION_GAS <= env.params.maxBlockExecutionGas)',
  },
  // It keeps no part of a block for others.
  {
    file: 'evm/block/block-builder.ts',
    find: 'return transactions.length === 0 || gasUsed',
    replace: 'return globalThis.byzantineBlocks !== undefined || transactions.length === 0 || gasUsed',
  },
]
