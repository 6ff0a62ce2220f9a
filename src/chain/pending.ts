import { LIMITS } from '../config/limits.ts'
import type { Executor, TransactionSource } from '../evm/execution.ts'
import { sealBlock } from '../primitives/block.ts'
import { receiptsRoot, transactionsRoot } from '../primitives/roots.ts'
import type { StateChanges } from '../state/changes.ts'
import type { WorldState } from '../state/world-state.ts'
import type { Hex } from '../util/bytes.ts'
import type { Clock } from '../util/clock.ts'
import { extraOf, headerOf } from './assembly.ts'
import { type BlockEnvSources, childEnv } from './block-env.ts'
import type { Chain } from './chain.ts'
import type { ChainBlock, PendingBlock } from './types.ts'

export interface PendingOptions {
  readonly chain: Chain
  readonly world: WorldState
  readonly executor: Executor
  readonly sources: BlockEnvSources
  /** Executable transactions of the pool, and a number that moves whenever they change. */
  readonly pool: { select(baseFeePerGas: bigint): TransactionSource; version(): number }
  readonly coinbase: Hex
  readonly clock: Clock
}

/** The pending block with the changes it makes, for calls on the pending state in other threads. */
export interface PendingState extends PendingBlock {
  readonly changes: StateChanges
}

/**
 * The pending block: the head's successor with the pool's executable transactions, as far as a small budget of transactions
 * and time goes. Built when asked for and kept until the head or the pool moves. Its stateRoot is the parent's: a root for a
 * block that nobody will ever vote on is not worth the trie's time.
 */
export class Pending {
  readonly #options: PendingOptions
  #kept: { readonly head: Hex; readonly version: number; readonly state: Promise<PendingState> } | undefined

  constructor(options: PendingOptions) {
    this.#options = options
  }

  state(): Promise<PendingState> {
    const head = this.#options.chain.headBlock.hash
    const version = this.#options.pool.version()
    if (this.#kept?.head !== head || this.#kept.version !== version) {
      this.#kept = { head, version, state: this.#options.chain.onHead(parent => this.#build(parent)) }
    }
    return this.#kept.state
  }

  async #build(parent: ChainBlock): Promise<PendingState> {
    const { world, executor, sources, pool, coinbase, clock } = this.#options
    const timestamp = Math.max(parent.header.timestamp + 1, Math.floor(clock.nowMs() / 1000))
    const env = childEnv(sources, parent, { timestamp, proposer: coinbase })
    const journal = world.journal()
    const nowMs = () => clock.nowMs()
    const execution = await executor.build(journal, env, firstOf(pool.select(env.baseFeePerGas)), {
      maxBytes: LIMITS.block.bodyBytes,
      nowMs,
      deadlineMs: nowMs() + LIMITS.chain.pendingBuildMs,
    })
    const extra = extraOf(coinbase, null)
    const header = headerOf(env, parent, extra, execution, {
      state: parent.header.stateRoot,
      transactions: transactionsRoot(execution.transactions),
      receipts: receiptsRoot(execution.receipts),
    })
    const block = sealBlock(header, { transactions: execution.transactions, proofHeaders: [], evidence: [] })
    return { block: { ...block, extra }, receipts: execution.receipts, state: journal, changes: journal.changes() }
  }
}

/** The first few candidates only: a pending block is a view, not a proposal. */
const firstOf = (source: TransactionSource): TransactionSource => {
  let left: number = LIMITS.chain.pendingTransactions
  return {
    next: () => (left-- > 0 ? source.next() : undefined),
    skipSender: transaction => source.skipSender(transaction),
  }
}
