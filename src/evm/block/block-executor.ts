import { assert } from '@tandem/base/assert.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'
import type { Journal } from '../../state/journal/journal.ts'
import type { BlockEnv } from '../block-env.ts'
import type { Interrupt } from '../engine.ts'
import type {
  BlockExecution,
  Credit,
  ExecutionBounds,
  ExecutionFaultError,
  InvalidTransactionError,
} from '../executor-types.ts'
import { checkAborted, createPacer } from '../slice-clock.ts'
import {
  addResult,
  type BlockRun,
  beginBlock,
  checkGasUsed,
  gasUsedExceeded,
  receiptWithRoot,
  runPostExecution,
} from './block-run.ts'
import { beginSystemContracts, type RunSystemCall } from './system-calls.ts'
import { invalidReason } from './transaction-validity.ts'

/** A transaction that was interrupted, exceeded the remaining gas, or failed in the engine leaves nothing in the journal. */
export type RunOutcome = Receipt | 'interrupted' | 'exceeded' | { readonly fault: Error }

/** Conditions that stop a transaction, and the yield to other work. */
export interface StopCondition extends Pick<Interrupt, 'shouldStop' | 'giveWay'> {
  /** Gas, after refunds, beyond which the block is invalid in any case. */
  readonly gasLeft?: bigint
}

/** Runs one valid transaction to its end; synchronously where possible. */
type RunTransaction = (tx: Transaction, run: BlockRun, until: StopCondition) => RunOutcome | Promise<RunOutcome>

/** Way to run the transactions of one block. */
export interface TransactionRunner {
  begin(journal: Journal, env: BlockEnv): RunTransaction | Promise<RunTransaction>
  /** Loads what the transaction needs before it can run, outside its own time. undefined: nothing to load. */
  prepare(tx: Transaction, journal: Journal, run: BlockRun): Promise<void> | undefined
  /** Returns the function that runs system calls. */
  systemCall(journal: Journal, env: BlockEnv): RunSystemCall
}

/** Implements `Executor.execute` over a transaction runner. */
export const executeBlock = async (
  runner: TransactionRunner,
  journal: Journal,
  env: BlockEnv,
  transactions: readonly Transaction[],
  credits: readonly Credit[],
  { gasUsed, signal }: ExecutionBounds,
): Promise<BlockExecution> => {
  const run = beginBlock(env)
  const pacer = createPacer(signal)
  const shouldStop = (): boolean => signal?.aborted === true
  const systemCall = runner.systemCall(journal, env)
  await beginSystemContracts(journal, env, run.rules, systemCall)
  const runTransaction = await runner.begin(journal, env)
  for (const [index, tx] of transactions.entries()) {
    const pause = pacer.check()
    if (pause !== undefined) await pause
    const reason = invalidReason(journal, run, tx)
    if (reason !== undefined)
      throw new CodedError<InvalidTransactionError>({ code: 'INVALID_TRANSACTION', index, reason })
    const loading = runner.prepare(tx, journal, run)
    if (loading !== undefined) await loading
    const until = gasUsed === undefined ? { shouldStop } : { shouldStop, gasLeft: gasUsed - run.gasUsed }
    const attempt = runTransaction(tx, run, until)
    const receipt = attempt instanceof Promise ? await attempt : attempt
    if (receipt === 'exceeded') throw gasUsedExceeded(index, gasUsed as bigint)
    if (receipt === 'interrupted') checkAborted(signal)
    assert(receipt !== 'interrupted', 'only the signal interrupts the execution of a proposal')
    if ('fault' in receipt) {
      const detail = { code: 'EXECUTION_FAULT', index, hash: tx.hash, message: receipt.fault.message } as const
      throw new CodedError<ExecutionFaultError>(detail, { cause: receipt.fault })
    }
    const settled = receiptWithRoot(run, journal, receipt)
    addResult(run, tx, settled instanceof Promise ? await settled : settled)
    checkGasUsed(run, gasUsed)
  }
  return runPostExecution(run, journal, credits, [], systemCall)
}
