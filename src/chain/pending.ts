import { LIMITS } from '../config/limits.ts'
import { timestampAt } from '../consensus/pacing.ts'
import type { Executor, TransactionSource } from '../evm/execution.ts'
import { overlayReader } from '../evm/overlay.ts'
import { receiptsRoot, transactionsRoot } from '../primitives/roots.ts'
import type { StateChanges } from '../state/changes.ts'
import type { WorldState } from '../state/world-state.ts'
import type { Hex } from '../util/bytes.ts'
import type { Clock } from '../util/clock.ts'
import { extraOf } from './assembly.ts'
import type { Chain } from './chain.ts'
import type { ChainRules } from './chain-rules.ts'
import type { ChainBlock, PendingBlock } from './types.ts'

export interface PendingOptions {
  readonly chain: Pick<Chain, 'headBlock' | 'onHead'>
  readonly world: WorldState
  readonly executor: Executor
  readonly rules: ChainRules
  readonly blockTimeMs: number
  /** Executable transactions of the pool, and a number that moves whenever they change. */
  readonly pool: { select(baseFeePerGas: bigint): TransactionSource; version(): number }
  readonly coinbase: Hex
  /** On a development chain: the timestamp of the next block, unix seconds. */
  readonly timestampAfter?: (parentTimestamp: number) => number
  readonly clock: Clock
}

interface Kept {
  readonly head: Hex
  readonly version: number
  readonly timestamp: number
  readonly state: Promise<PendingState>
}

/** The pending block with the changes it makes, for calls on the pending state in other threads. */
export interface PendingState extends PendingBlock {
  readonly changes: StateChanges
}

/**
 * The pending block: the head's successor with the pool's executable transactions, as far as a small budget of transactions
 * and time goes. Built when asked for and kept until the head, the pool or the second moves. Its stateRoot is the parent's: a root for a
 * block that nobody will ever vote on is not worth the trie's time.
 */
export class Pending {
  readonly #options: PendingOptions
  /** Built, or being built. */
  #kept: Kept | undefined
  /** Asked for, and not begun. */
  #waiting: Promise<PendingState> | undefined

  constructor(options: PendingOptions) {
    this.#options = options
  }

  /** One build at most waits for its turn: whoever asks meanwhile shares it, so that no queue of them stands before the next block. */
  state(): Promise<PendingState> {
    if (this.#waiting) return this.#waiting
    const { chain } = this.#options
    const kept = this.#kept
    if (kept && this.#isCurrent(kept)) return kept.state
    const state = chain.onHead(parent => {
      const made = { ...this.#place(parent), state }
      this.#waiting = undefined
      this.#kept = made
      // A failure is told to those who waited for it; the next who asks gets another try.
      state.catch(() => {
        if (this.#kept === made) this.#kept = undefined
      })
      return this.#build(parent)
    })
    this.#waiting = state
    return state
  }

  #isCurrent({ head, version, timestamp }: Kept): boolean {
    const now = this.#place(this.#options.chain.headBlock)
    return now.head === head && now.version === version && now.timestamp === timestamp
  }

  /** An idle chain in instant mode has the same head for hours: time goes on in its pending block all the same. */
  #place(parent: ChainBlock): Omit<Kept, 'state'> {
    return { head: parent.hash, version: this.#options.pool.version(), timestamp: this.#timestampAfter(parent) }
  }

  #timestampAfter({ header }: ChainBlock): number {
    const { blockTimeMs, clock, timestampAfter } = this.#options
    return timestampAfter?.(header.timestamp) ?? timestampAt(blockTimeMs, header.timestamp, clock.nowMs())
  }

  async #build(parent: ChainBlock): Promise<PendingState> {
    const { world, executor, rules, pool, coinbase, clock } = this.#options
    const env = rules.childEnv(parent, { timestamp: this.#timestampAfter(parent), proposer: coinbase })
    const journal = world.journal()
    const nowMs = () => clock.nowMs()
    const execution = await executor.build(journal, env, firstOf(pool.select(env.baseFeePerGas)), {
      maxBytes: LIMITS.block.bodyBytes,
      nowMs,
      deadlineMs: nowMs() + LIMITS.chain.pendingBuildMs,
      transactionMs: LIMITS.chain.pendingBuildMs,
    })
    const extra = extraOf(coinbase, null)
    const block = rules.assemble(env, parent, extra, execution, {
      state: parent.header.stateRoot,
      transactions: transactionsRoot(execution.transactions),
      receipts: receiptsRoot(execution.receipts),
    })
    const changes = journal.changes()
    // Not the journal itself: that would keep every account anybody asks for.
    const state = overlayReader(world.head, changes)
    return { block: { ...block, extra }, receipts: execution.receipts, state, changes }
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
