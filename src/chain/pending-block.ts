import { Mutex } from '@tandem/base/async/mutex.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { Lru } from '@tandem/base/lru.ts'
import { CHAIN_LIMITS } from '../config/limits/chain.ts'
import { BLOCK_BOUNDS } from '../config/protocol-bounds.ts'
import { proposalTimestamp } from '../consensus/timing/pacemaker.ts'
import type { BuildBudget, Executor, TransactionSource } from '../evm/executor-types.ts'
import { receiptsRoot, transactionsRoot } from '../primitives/roots.ts'
import { overlayReader } from '../state/overlay-reader.ts'
import type { StateChanges } from '../state/update/state-update.ts'
import type { WorldState } from '../state/world/world-state.ts'
import { assembleExtraData } from './block/header-assembly.ts'
import type { Chain } from './chain.ts'
import type { ChainRules } from './store/rules-port.ts'
import type { ChainBlock, PendingBlock } from './store/types.ts'

export interface PendingBlockOptions {
  readonly chain: Pick<Chain, 'headBlock'>
  readonly world: WorldState
  readonly executor: Executor
  readonly rules: ChainRules
  readonly blockTimeMs: number
  /** Executable transactions of the pool, and a version that changes with them. */
  readonly pool: { select(baseFeePerGas: bigint): TransactionSource; version(): number }
  readonly coinbase: Hex
  /** On a development chain: timestamp of the next block, unix seconds. */
  readonly timestampAfter?: (parentTimestamp: number) => number
  readonly clock: Clock
}

interface Kept {
  readonly head: Hex
  readonly version: number
  readonly timestamp: number
  readonly state: Promise<PendingState>
  /** Time until which the block is reused for later requests on the same head, because one of its transactions took too long. */
  restMs: number
}

/** Pending block with its state changes, for calls on the pending state in other threads. */
export interface PendingState extends PendingBlock {
  readonly changes: StateChanges
}

/**
 * Builder of the pending block: the head's successor with the pool's executable transactions, within a small budget of transactions
 * and time. Built on request and cached until the head, the pool or the second changes, concurrently with the chain, which never waits
 * for it. Its stateRoot is the parent's: computing a root would cost trie time for a block that is never voted on.
 */
export class PendingBlockBuilder {
  readonly #options: PendingBlockOptions
  readonly #turn = new Mutex()
  /** Transactions that took too long here; later pending blocks skip them. */
  readonly #slow = new Lru<Hex, true>({ limit: CHAIN_LIMITS.pendingSlow })
  /** True when the last build stopped a transaction. */
  #hasStopped = false
  /** Pending block, built or being built. */
  #kept: Kept | undefined
  /** Build requested and not begun. */
  #waiting: Promise<PendingState> | undefined

  constructor(options: PendingBlockOptions) {
    this.#options = options
  }

  /** At most one build waits, and all requests meanwhile share it. */
  state(): Promise<PendingState> {
    if (this.#waiting) return this.#waiting
    const kept = this.#kept
    if (kept && this.#isCurrent(kept)) return kept.state
    const state: Promise<PendingState> = this.#turn.run(() => {
      const made: Kept = { ...this.#place(this.#options.chain.headBlock), state, restMs: 0 }
      this.#waiting = undefined
      this.#kept = made
      // A failure rejects the requests that waited for it; the next request builds again.
      state.catch(() => {
        if (this.#kept === made) this.#kept = undefined
      })
      return this.#timed(made)
    })
    this.#waiting = state
    return state
  }

  #isCurrent({ head, version, timestamp, restMs }: Kept): boolean {
    const now = this.#place(this.#options.chain.headBlock)
    if (now.head !== head) return false
    return (now.version === version && now.timestamp === timestamp) || performance.now() < restMs
  }

  /** An idle chain in instant mode keeps its head for hours: the time of its pending block still advances. */
  #place(parent: ChainBlock): Pick<Kept, 'head' | 'version' | 'timestamp'> {
    return { head: parent.hash, version: this.#options.pool.version(), timestamp: this.#timestampAfter(parent) }
  }

  #timestampAfter({ header }: ChainBlock): number {
    const { blockTimeMs, clock, timestampAfter } = this.#options
    return timestampAfter?.(header.timestamp) ?? proposalTimestamp(blockTimeMs, header.timestamp, clock.nowMs())
  }

  async #timed(made: Kept): Promise<PendingState> {
    const startMs = performance.now()
    this.#hasStopped = false
    const state = await this.#onHead()
    const nowMs = performance.now()
    // Leaves most of the thread's time to other work, however many slow transactions there are and however fast the pool changes.
    if (this.#hasStopped) made.restMs = nowMs + 4 * (nowMs - startMs)
    return state
  }

  /** Builds on the current head; starts again when it moves meanwhile. */
  async #onHead(): Promise<PendingState> {
    for (;;) {
      const parent = this.#options.chain.headBlock
      try {
        return await this.#build(parent)
      } catch (error) {
        const hasMoved = isCoded(error) && error.code === 'STATE_MOVED'
        if (!hasMoved || this.#options.chain.headBlock === parent) throw error
      }
    }
  }

  async #build(parent: ChainBlock): Promise<PendingState> {
    const { world, executor, rules, pool, coinbase } = this.#options
    const env = rules.childEnv(parent, { timestamp: this.#timestampAfter(parent), proposer: coinbase })
    const journal = world.journal()
    const source = this.#candidates(pool.select(env.baseFeePerGas))
    const execution = await executor.build(journal, env, source, this.#budget())
    const extra = assembleExtraData(coinbase, null, { proofTip: parent.extra.proofTip })
    const block = rules.assemble(env, parent, extra, execution, {
      state: parent.header.stateRoot,
      transactions: transactionsRoot(execution.transactions),
      receipts: receiptsRoot(execution.receipts),
    })
    const changes = journal.changes()
    // Without the journal, which would retain every account that is read.
    const state = overlayReader(world.head, changes)
    return { block: { ...block, extra }, receipts: execution.receipts, state, changes }
  }

  #budget(): BuildBudget {
    const { clock } = this.#options
    const nowMs = () => clock.nowMs()
    return {
      maxBytes: BLOCK_BOUNDS.bodyBytes,
      nowMs,
      cpuMs: clock.cpuMs,
      deadlineMs: nowMs() + CHAIN_LIMITS.pendingBuildMs,
      transactionMs: CHAIN_LIMITS.pendingBuildMs,
    }
  }

  /** Only the first transactions: a pending block is a view, not a proposal. */
  #candidates(source: TransactionSource): TransactionSource {
    let left: number = CHAIN_LIMITS.pendingTransactions
    return {
      next: () => {
        for (;;) {
          const transaction = left-- > 0 ? source.next() : undefined
          if (transaction === undefined || this.#slow.get(transaction.hash) === undefined) return transaction
          source.skipSender(transaction)
        }
      },
      skipSender: transaction => source.skipSender(transaction),
      overran: ({ hash }, ranMs) => {
        this.#hasStopped = true
        // A thread that was busy with other work says nothing about the transaction.
        if (ranMs >= CHAIN_LIMITS.pendingBuildMs / 2) this.#slow.set(hash, true)
      },
    }
  }
}
