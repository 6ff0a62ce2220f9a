import type { Hex } from '@tandem/base/bytes.ts'
import { createAddress } from '../../primitives/receipt/address.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'
import { delegationTarget } from '../../primitives/transaction/delegation.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'
import { Journal } from '../../state/journal/journal.ts'
import type { StateReader } from '../../state/state-reader.ts'
import type { BlockEnv } from '../block-env.ts'
import type { Engine, EngineOptions, Interrupt } from '../engine.ts'
import type { Prefetcher } from '../prefetched-reader.ts'
import type { TracedTransaction, TraceHooks } from '../tracer.ts'
import { authorityOf } from './authorizations.ts'
import { addResult, type BlockRun, beginBlock } from './block-run.ts'
import { isPlainTransfer, runMessageTransaction, runPlainTransfer } from './run-transaction.ts'
import { beginSystemContracts, PRE_EXECUTION_ACCOUNTS, type RunSystemCall, runSystemCall } from './system-calls.ts'

/** State and block of a call, or of a replay of the block's transactions after its parent. */
export interface ExecutionContext {
  readonly reader: StateReader
  /** Present for a reader that needs prefetching. */
  readonly prefetch: Prefetcher | undefined
  readonly env: BlockEnv
  readonly engine: Engine
  readonly interrupt: Interrupt | undefined
}

/** Position of a traced transaction. */
interface TracedPosition {
  readonly blockHash: Hex
  readonly index: number
}

/** Executes a committed block's transactions on the state before it: an error is a fault of this node, or an interrupt. */
export class Replay {
  /** State after the executed transactions. */
  readonly journal: Journal
  readonly #context: ExecutionContext
  readonly #run: BlockRun
  readonly #options: EngineOptions
  /** Logs of the executed transactions. */
  #logs = 0

  private constructor(context: ExecutionContext) {
    const { reader, env, interrupt, prefetch } = context
    this.#context = context
    this.journal = new Journal(reader)
    this.#run = beginBlock(env)
    this.#options = { interrupt, prefetch }
  }

  /** Starts with the system calls before the first transaction. */
  static async begin(context: ExecutionContext): Promise<Replay> {
    const replay = new Replay(context)
    const { engine, env, prefetch } = context
    for (const address of PRE_EXECUTION_ACCOUNTS) await prefetch?.code(address)
    const call: RunSystemCall = one => runSystemCall(replay.journal, env, engine, one, replay.#options)
    await beginSystemContracts(replay.journal, env, replay.#run.rules, call, prefetch)
    return replay
  }

  /** Runs the next transaction without a tracer. */
  async run(tx: Transaction): Promise<Receipt> {
    const { journal } = this
    await this.#load(tx)
    const receipt = isPlainTransfer(journal, this.#run, tx)
      ? runPlainTransfer(journal, this.#run, tx)
      : (await runMessageTransaction(journal, this.#run, tx, this.#context.engine, this.#options)).receipt
    this.#add(tx, receipt)
    return receipt
  }

  /** Adds a result with the number of its logs alone: those of a block are up to 50 MB. */
  #add(tx: Transaction, receipt: Receipt): void {
    this.#logs += receipt.logs.length
    addResult(this.#run, tx, { ...receipt, logs: [] })
  }

  /** Runs the next transaction under a tracer. */
  async trace(tx: Transaction, place: TracedPosition, hooks: TraceHooks): Promise<Receipt> {
    const { tracer } = hooks
    await this.#load(tx)
    tracer.begin?.(this.#describe(tx, place), this.journal)
    const options = { ...this.#options, trace: hooks }
    const { engine } = this.#context
    const { receipt } = await runMessageTransaction(this.journal, this.#run, tx, engine, options)
    this.#add(tx, receipt)
    tracer.end?.({ gasUsed: receipt.gasUsed })
    return receipt
  }

  /** Loads the accounts read without prefetching: by the rules around the message, and by tracers at its beginning. */
  async #load(tx: Transaction): Promise<void> {
    const { prefetch, env } = this.#context
    if (prefetch === undefined) return
    const to = recipientOf(tx)
    for (const address of [tx.from, to, env.miner, ...authoritiesOf(tx)]) await prefetch.code(address)
    const target = delegationTarget(this.journal.code(to))
    if (target !== undefined) await prefetch.code(target)
  }

  #describe(tx: Transaction, { blockHash, index }: TracedPosition): TracedTransaction {
    const { env, rules } = this.#run
    return {
      from: tx.from,
      to: recipientOf(tx),
      isCreation: tx.to === null,
      gasLimit: tx.gasLimit,
      coinbase: env.miner,
      authorities: authoritiesOf(tx),
      precompiles: rules.precompiles,
      blockNumber: env.number,
      blockHash,
      hash: tx.hash,
      index,
      logsBefore: this.#logs,
    }
  }
}

const recipientOf = (tx: Transaction): Hex => tx.to ?? createAddress(tx.from, tx.nonce)

const authoritiesOf = ({ authorizationList = [] }: Transaction): readonly Hex[] =>
  authorizationList.map(authorityOf).filter(address => address !== undefined)
