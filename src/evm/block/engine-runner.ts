import { AssertionError } from '@tandem/base/assert.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { EXECUTION_LIMITS } from '../../config/limits/execution.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'
import type { Journal } from '../../state/journal/journal.ts'
import type { Engine } from '../engine.ts'
import type { RunOutcome, StopCondition, TransactionRunner } from './block-executor.ts'
import { addEffects, type BlockRun } from './block-run.ts'
import {
  isPlainTransfer,
  type MessageOutcome,
  messageGasBound,
  runMessageTransaction,
  runPlainTransfer,
} from './run-transaction.ts'
import { runSystemCall } from './system-calls.ts'

/** EVM engine, loaded at the first code. */
export interface EngineSource {
  loaded: Engine | undefined
  load(): Promise<Engine>
}

/** Transaction that an engine runs; `mark`: the journal's checkpoint before it. */
interface Attempt {
  readonly journal: Journal
  readonly mark: number
  readonly tx: Transaction
  readonly engine: string
  readonly logger: Logger
}

/** Reverts a transaction that an engine gave up, and returns why. Throws impossible states, and moved ones, which say nothing about it. */
export const giveUp = (
  error: unknown,
  { journal, mark, tx, engine, logger }: Attempt,
): Exclude<RunOutcome, Receipt> => {
  if (error instanceof AssertionError || (isCoded(error) && error.code === 'STATE_MOVED')) throw error
  journal.revert(mark)
  if (isCoded(error) && error.code === 'EXECUTION_INTERRUPTED') return 'interrupted'
  if (isCoded(error) && error.code === 'GAS_BOUND_EXCEEDED') return 'exceeded'
  const fault = error instanceof Error ? error : new Error(String(error))
  logger.error({ err: fault, hash: tx.hash, engine }, 'engine failed on a transaction')
  return { fault }
}

const runWithEngine = (
  journal: Journal,
  run: BlockRun,
  tx: Transaction,
  engine: Engine,
  logger: Logger,
  { gasLeft, ...until }: StopCondition,
): RunOutcome | Promise<RunOutcome> => {
  const mark = journal.checkpoint()
  const succeed = ({ receipt, result }: MessageOutcome): RunOutcome => {
    addEffects(run, result)
    return receipt
  }
  const fail = (error: unknown): RunOutcome => giveUp(error, { journal, mark, tx, engine: engine.name, logger })
  try {
    const interrupt = { sliceMs: EXECUTION_LIMITS.sliceMs, ...until }
    const gasBound = gasLeft === undefined ? undefined : messageGasBound(tx, run, gasLeft)
    const outcome = runMessageTransaction(journal, run, tx, engine, { interrupt, gasBound })
    return outcome instanceof Promise ? outcome.then(succeed).catch(fail) : succeed(outcome)
  } catch (error) {
    return fail(error)
  }
}

/** Runs transactions by this node's own rules; only code is run by an engine. A plain transfer runs synchronously. */
export const createEngineRunner = (engines: EngineSource, logger: Logger): TransactionRunner => ({
  begin: journal => (tx, run, until) => {
    if (isPlainTransfer(journal, run, tx)) return runPlainTransfer(journal, run, tx)
    if (engines.loaded !== undefined) return runWithEngine(journal, run, tx, engines.loaded, logger, until)
    return engines.load().then(engine => runWithEngine(journal, run, tx, engine, logger, until))
  },
  systemCall: (journal, env) => async call =>
    runSystemCall(journal, env, engines.loaded ?? (await engines.load()), call),
  prepare(tx, journal, run) {
    if (engines.loaded !== undefined || isPlainTransfer(journal, run, tx)) return undefined
    return engines.load().then(() => {})
  },
})
