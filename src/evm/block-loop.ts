import { LIMITS } from '../config/limits.ts'
import type { Receipt } from '../primitives/receipt.ts'
import type { Transaction } from '../primitives/transaction.ts'
import type { Journal } from '../state/journal.ts'
import { assert } from '../util/assert.ts'
import { CodedError } from '../util/errors.ts'
import { closeBlock, openBlock, settleReceipt } from './block-phases.ts'
import { addResult, type BlockRun, beginBlock } from './block-run.ts'
import type { BlockEnv } from './env.ts'
import type {
  BlockExecution,
  BuildBudget,
  Credit,
  DroppedTransaction,
  InvalidReason,
  InvalidTransactionError,
  TransactionSource,
} from './execution.ts'
import type { RunSystemCall } from './system-calls.ts'
import { validate } from './validity.ts'

/** No transaction is shorter than this: a signature alone has 67 bytes. */
const SMALLEST_TRANSACTION_BYTES = 100

/** A transaction that was interrupted, or on which the engine broke, leaves nothing in the journal. */
export type Attempt = Receipt | 'interrupted' | { readonly fault: Error }

/** Runs one valid transaction to its end; an answer without a promise costs none. */
export type RunTransaction = (tx: Transaction, run: BlockRun, shouldStop: () => boolean) => Attempt | Promise<Attempt>

/** How the transactions of one block are run. */
export interface TransactionRunner {
  begin(journal: Journal, env: BlockEnv): RunTransaction | Promise<RunTransaction>
  /** What must be loaded before this transaction can run: not the transaction's own time. undefined: nothing. */
  prepare(tx: Transaction, journal: Journal, run: BlockRun): Promise<void> | undefined
  /** How messages of the protocol are run. */
  systemCall(journal: Journal, env: BlockEnv): RunSystemCall
}

const invalid = (index: number, reason: InvalidReason) =>
  new CodedError<InvalidTransactionError>({ code: 'INVALID_TRANSACTION', index, reason })

const faultReason = (fault: Error): InvalidReason => ({ code: 'EXECUTION_FAULT', message: fault.message })

const never = (): boolean => false

/** Gives the event loop its turn when a slice of work is over. */
const createPacer = () => {
  let sliceEndMs = performance.now() + LIMITS.execution.sliceMs
  return {
    due: (): boolean => performance.now() >= sliceEndMs,
    async giveWay(): Promise<void> {
      await new Promise<void>(resolve => setImmediate(resolve))
      sliceEndMs = performance.now() + LIMITS.execution.sliceMs
    },
  }
}

/** Time spent on loading code is not the transactions' time. */
const createTimer = (budget: BuildBudget) => {
  let deadlineMs = budget.deadlineMs
  return {
    isOver: (): boolean => budget.nowMs() >= deadlineMs,
    async excluding(work: Promise<void>): Promise<void> {
      const startMs = budget.nowMs()
      await work
      deadlineMs += budget.nowMs() - startMs
    },
  }
}

/** Picks candidates and keeps the account of what did not fit. */
const createPicker = (journal: Journal, run: BlockRun, source: TransactionSource, maxBytes: number) => {
  const dropped: DroppedTransaction[] = []
  let bytesLeft = maxBytes
  return {
    dropped,
    /** The next valid candidate that still fits. */
    next(): Transaction | undefined {
      while (bytesLeft >= SMALLEST_TRANSACTION_BYTES) {
        const tx = source.next()
        if (tx === undefined) return undefined
        if (tx.raw.byteLength > bytesLeft) {
          source.skipSender(tx)
          continue
        }
        const reason = validate(journal, run, tx)
        if (reason === undefined) return tx
        this.drop(tx, reason)
      }
      return undefined
    },
    took(tx: Transaction): void {
      bytesLeft -= tx.raw.byteLength
    },
    drop(transaction: Transaction, reason: InvalidReason): void {
      dropped.push({ transaction, reason })
      // The sender's next one may fit where this one was used already.
      if (reason.code !== 'NONCE_TOO_LOW') source.skipSender(transaction)
    },
  }
}

/** `Executor.build` over a way to run transactions. */
export const buildBlock = async (
  runner: TransactionRunner,
  journal: Journal,
  env: BlockEnv,
  source: TransactionSource,
  budget: BuildBudget,
  credits: readonly Credit[],
): Promise<BlockExecution> => {
  const run = beginBlock(env)
  const picker = createPicker(journal, run, source, budget.maxBytes)
  const pacer = createPacer()
  const timer = createTimer(budget)
  const systemCall = runner.systemCall(journal, env)
  await openBlock(run, journal, systemCall)
  const runTransaction = await runner.begin(journal, env)
  while (!timer.isOver()) {
    if (pacer.due()) await pacer.giveWay()
    const tx = picker.next()
    if (tx === undefined) break
    const loading = runner.prepare(tx, journal, run)
    if (loading !== undefined) await timer.excluding(loading)
    // One that overruns alone still goes in (DESIGN 2): it would overrun in every block.
    const attempt = runTransaction(tx, run, run.transactions.length === 0 ? never : timer.isOver)
    const receipt = attempt instanceof Promise ? await attempt : attempt
    if (receipt === 'interrupted') break
    if ('fault' in receipt) picker.drop(tx, faultReason(receipt.fault))
    else {
      const settled = settleReceipt(run, journal, receipt)
      addResult(run, tx, settled instanceof Promise ? await settled : settled)
      picker.took(tx)
    }
  }
  return closeBlock(run, journal, credits, picker.dropped, systemCall)
}

/** `Executor.execute` over a way to run transactions. */
export const executeBlock = async (
  runner: TransactionRunner,
  journal: Journal,
  env: BlockEnv,
  transactions: readonly Transaction[],
  credits: readonly Credit[],
): Promise<BlockExecution> => {
  const run = beginBlock(env)
  const pacer = createPacer()
  const systemCall = runner.systemCall(journal, env)
  await openBlock(run, journal, systemCall)
  const runTransaction = await runner.begin(journal, env)
  for (const [index, tx] of transactions.entries()) {
    if (pacer.due()) await pacer.giveWay()
    const reason = validate(journal, run, tx)
    if (reason !== undefined) throw invalid(index, reason)
    const loading = runner.prepare(tx, journal, run)
    if (loading !== undefined) await loading
    const attempt = runTransaction(tx, run, never)
    const receipt = attempt instanceof Promise ? await attempt : attempt
    assert(receipt !== 'interrupted', 'nothing interrupts the execution of a proposal')
    if ('fault' in receipt) throw invalid(index, faultReason(receipt.fault))
    const settled = settleReceipt(run, journal, receipt)
    addResult(run, tx, settled instanceof Promise ? await settled : settled)
  }
  return closeBlock(run, journal, credits, [], systemCall)
}
