import { LIMITS } from '../config/limits.ts'
import type { Transaction } from '../primitives/transaction.ts'
import type { Journal } from '../state/journal.ts'
import { isCoded } from '../util/errors.ts'
import type { Attempt, TransactionRunner } from './block-loop.ts'
import type { BlockRun } from './block-run.ts'
import type { Engine } from './engine.ts'
import { isPlainTransfer, runMessageTransaction, runPlainTransfer } from './transaction.ts'

/** The engine that runs code, loaded when the first code needs it. */
export interface EngineSource {
  loaded: Engine | undefined
  load(): Promise<Engine>
}

const runWithEngine = async (
  journal: Journal,
  run: BlockRun,
  tx: Transaction,
  engine: Engine,
  shouldStop: () => boolean,
): Promise<Attempt> => {
  const mark = journal.checkpoint()
  try {
    return await runMessageTransaction(journal, run, tx, engine, { sliceMs: LIMITS.execution.sliceMs, shouldStop })
  } catch (error) {
    if (!isCoded(error) || error.code !== 'EXECUTION_INTERRUPTED') throw error
    journal.revert(mark)
    return 'interrupted'
  }
}

/** Transactions by our own rules; only code is run by an engine. A plain transfer is done at once, without a promise. */
export const createFastRunner = (engines: EngineSource): TransactionRunner => ({
  begin: journal => (tx, run, shouldStop) => {
    if (isPlainTransfer(journal, run, tx)) return runPlainTransfer(journal, run, tx)
    if (engines.loaded !== undefined) return runWithEngine(journal, run, tx, engines.loaded, shouldStop)
    return engines.load().then(engine => runWithEngine(journal, run, tx, engine, shouldStop))
  },
  prepare(tx, journal, run) {
    if (engines.loaded !== undefined || isPlainTransfer(journal, run, tx)) return undefined
    return engines.load().then(() => {})
  },
})
