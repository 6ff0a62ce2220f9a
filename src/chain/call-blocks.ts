import { assert } from '@tandem/base/assert.ts'
import type { CallState } from '../evm/calls/call-service.ts'
import type { Chain } from './chain.ts'
import type { PendingBlockBuilder, PendingState } from './pending-block.ts'
import type { BlockStore } from './store/block-store.ts'
import type { ChainBlock } from './store/types.ts'

interface CallBlocksOptions {
  readonly blocks: BlockStore
  readonly chain: Pick<Chain, 'headBlock'>
  readonly pending: Pick<PendingBlockBuilder, 'state'>
}

/** Base blocks of calls and simulations: committed ones, or the pending one. */
export class CallBlocks {
  readonly #options: CallBlocksOptions
  /** One request takes all its data from one pending block, although a newer one may exist before it ends. */
  readonly #pending = new WeakMap<CallState, Promise<PendingState>>()

  constructor(options: CallBlocksOptions) {
    this.#options = options
  }

  pendingOf(request: CallState): Promise<PendingState> {
    const found = this.#pending.get(request) ?? this.#options.pending.state()
    this.#pending.set(request, found)
    return found
  }

  /** Treats both requests as one: they use the same pending block. */
  join(request: CallState, other: CallState): void {
    if (request.pending) this.#pending.set(other, this.pendingOf(request))
  }

  async blockOf(request: CallState): Promise<ChainBlock> {
    if (request.pending) return (await this.pendingOf(request)).block
    const { chain, blocks } = this.#options
    const head = chain.headBlock
    const block = request.number === head.header.number ? head : await blocks.block(request.number)
    assert(block, 'a call is made on a block that exists')
    return block
  }
}
