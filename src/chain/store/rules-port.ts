import type { Hex } from '@tandem/base/bytes.ts'
import type { BlockEnv } from '../../evm/block-env.ts'
import type { BlockExecution } from '../../evm/executor-types.ts'
import type { Block } from '../../primitives/block.ts'
import type { ExtraData } from '../../primitives/consensus/extra-data.ts'
import type { Header } from '../../primitives/header.ts'
import type { ReceiptPrices } from '../../primitives/receipt/receipt.ts'
import type { ChainBlock } from './types.ts'

/** Roots in a block's header. */
export interface BlockRoots {
  readonly state: Hex
  readonly transactions: Hex
  readonly receipts: Hex
}

/**
 * Rules that differ between the two kinds of chain a node can hold, as its readers need them: its own (docs/design/blocks.md#header), and a
 * recorded chain with Ethereum's rules (`tandem fixture`). Plain data is in the params, so that other threads have it too.
 */
export interface ChainRules {
  /** Returns the consensus data of a header. */
  extraOf(header: Header): ExtraData
  /** Returns the header values on which receipts depend. */
  pricesOf(header: Header): ReceiptPrices
  /** Returns the environment of a simulated block on `parent`. */
  childEnv(parent: ChainBlock, block: { readonly timestamp: number; readonly proposer: Hex }): BlockEnv
  /** Returns the environment of a committed block. */
  committedEnv(block: Pick<ChainBlock, 'header' | 'hash' | 'extra'>): BlockEnv
  /** Assembles the block that results from an execution on `parent`. */
  assemble(
    env: BlockEnv,
    parent: ChainBlock,
    extra: ExtraData,
    execution: BlockExecution,
    blockRoots: BlockRoots,
  ): Block
}
