import { CodedError, isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { Journal } from '../../../state/journal/journal.ts'
import { checkAborted } from '../../block/pacer.ts'
import type { BlockExecution, Executor, ShadowMismatchError } from '../../executor-types.ts'
import { type BlockOutcome, firstDifference } from './compare-blocks.ts'
import { RecordingReader, writeReproduction } from './reproduction-file.ts'

interface ShadowOptions {
  readonly logger: Logger
  readonly directory: string
}

const attempt = async (journal: Journal, work: Promise<BlockExecution>): Promise<BlockOutcome> => {
  try {
    return { execution: await work, changes: journal.changes() }
  } catch (error) {
    if (isCoded(error)) return { refused: error }
    throw error
  }
}

/**
 * Executes every block twice, by `fast` and by the oracle, each on its own journal over the one passed in; then once more by
 * `fast` on that one. The first difference is written to a file and thrown as SHADOW_MISMATCH: the node must stop.
 */
export const createShadowExecutor = (fast: Executor, { logger, directory }: ShadowOptions): Executor => {
  const execute: Executor['execute'] = async (journal, env, transactions, credits = [], bounds = {}) => {
    const { runOracle } = await import('./block-vm.ts')
    const base = new RecordingReader(journal)
    const oracleJournal = new Journal(base)
    const oracle = await attempt(oracleJournal, runOracle(oracleJournal, env, transactions, credits, bounds))
    const fastJournal = new Journal(base)
    const ours = await attempt(fastJournal, fast.execute(fastJournal, env, transactions, credits, bounds))
    checkAborted(bounds.signal)
    const what = firstDifference(ours, oracle)
    if (what !== undefined) {
      const file = await writeReproduction(directory, { what, env, transactions, credits, base, ours, oracle }, logger)
      logger.error({ block: env.number, what, file }, 'shadow execution differs')
      throw new CodedError<ShadowMismatchError>({ code: 'SHADOW_MISMATCH', file, what })
    }
    return fast.execute(journal, env, transactions, credits, bounds)
  }

  return {
    async build(journal, env, source, budget, credits) {
      const built = await fast.build(new Journal(journal), env, source, budget, credits)
      const { signal } = budget
      const executed = await execute(journal, env, built.transactions, credits, signal && { signal })
      return { ...executed, dropped: built.dropped }
    },
    execute,
    warmUp: () => fast.warmUp(),
  }
}
