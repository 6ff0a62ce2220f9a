import type { BlockEnv } from '../../evm/block-env.ts'
import type { BlockExecution } from '../../evm/executor-types.ts'
import { type Block, blockFromParts } from '../../primitives/block.ts'
import type { ExtraData } from '../../primitives/extra-data.ts'
import type { Header } from '../../primitives/header.ts'
import type { ReceiptPrices } from '../../primitives/receipt.ts'
import type { Hex } from '../../util/bytes.ts'
import { nativeExtra, nativePrices } from '../store/block-store.ts'
import type { ChainBlock } from '../types.ts'
import { type BlockEnvSources, childEnv, committedEnv } from './block-env.ts'
import { assembleHeader, type BlockRoots } from './header-assembly.ts'

/**
 * Where the chains that a node can hold differ for those who only read one: its own (docs/design/blocks.md#header), and a recorded chain with
 * Ethereum's rules (`ethereum/rules.ts`). What is data stands in the params, so that other threads have it too.
 */
export interface ChainRules {
  /** What a header says of its proposer and of consensus. */
  extraOf(header: Header): ExtraData
  /** What its receipts depend on. */
  pricesOf(header: Header): ReceiptPrices
  /** What the transactions of a block on `parent` see. */
  childEnv(parent: ChainBlock, block: { readonly timestamp: number; readonly proposer: Hex }): BlockEnv
  /** What the transactions of a committed block saw. */
  committedEnv(block: Pick<ChainBlock, 'header' | 'extra'>): BlockEnv
  /** The block that follows from an execution on `parent`. */
  assemble(
    env: BlockEnv,
    parent: ChainBlock,
    extra: ExtraData,
    execution: BlockExecution,
    blockRoots: BlockRoots,
  ): Block
}

/** The rules of this node's own chain. */
export const nativeRules = (sources: BlockEnvSources): ChainRules => ({
  extraOf: nativeExtra,
  pricesOf: nativePrices,
  childEnv: (parent, block) => childEnv(sources, parent, block),
  committedEnv: ({ header, extra }) => committedEnv(sources, header, extra.proposer),
  assemble: (env, parent, extra, execution, blockRoots) =>
    blockFromParts(assembleHeader(env, parent, extra, execution, blockRoots), {
      transactions: execution.transactions,
      proofHeaders: [],
      evidence: [],
    }),
})
