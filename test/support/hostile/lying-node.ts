import type { Patch } from '../mutants/mutants.ts'
import { applyPatches } from '../mutants/patch.ts'
import { Lies } from './lies.ts'

/*
 * `NODE_OPTIONS=--import=this LIES=...` makes a node that proposes, at each of its turns, the worst block it can think of, and votes
 * honestly on those of others. It signs its lies with its own key and spends its own money; no source of the product knows of it.
 */

const PATCHES: readonly Patch[] = [
  // Its candidates are its own, and it has all the time there is.
  {
    file: 'chain/block/block-work.ts',
    find: 'this.#options.pool.select(env.baseFeePerGas), budget, credits)',
    replace:
      'globalThis.lies.candidates(env, journal) ?? this.#options.pool.select(env.baseFeePerGas), globalThis.lies.budget(budget), credits)',
  },
  {
    file: 'chain/block/block-work.ts',
    find: 'const header = assembleHeader(env, parent, extra, execution, blockRoots)\n',
    replace: 'const header = globalThis.lies.header(assembleHeader(env, parent, extra, execution, blockRoots))\n',
  },
  // The node knows the results of its own transactions without running them.
  {
    file: 'evm/block/run-transaction.ts',
    find: 'await engine.run(journal, env, message, options)',
    replace: 'globalThis.lies.resultOf(message) ?? await engine.run(journal, env, message, options)',
  },
  {
    file: 'rules/transaction.ts',
    find: "  return have > limit ? { code: 'BLOCK_GAS_EXCEEDED'",
    replace:
      "  if (globalThis.lies?.ignoresTheBound()) return undefined\n  return have > limit ? { code: 'BLOCK_GAS_EXCEEDED'",
  },
  {
    file: 'evm/block/block-builder.ts',
    find: 'gasUsed + SMALLEST_TRANSACTION_GAS <= env.params.maxBlockExecutionGas',
    replace:
      '(globalThis.lies.ignoresTheBound() || gasUsed + SMALLEST_TRANSACTION_GAS <= env.params.maxBlockExecutionGas)',
  },
  // It keeps no part of a block for others.
  {
    file: 'evm/block/block-builder.ts',
    find: 'return transactions.length === 0 || gasUsed',
    replace: 'return globalThis.lies !== undefined || transactions.length === 0 || gasUsed',
  },
]

Object.assign(globalThis, { lies: new Lies(JSON.parse(process.env['LIES'] ?? '{}')) })
applyPatches(PATCHES)
