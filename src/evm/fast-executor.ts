import { LIMITS } from '../config/limits.ts'
import type { Receipt } from '../primitives/receipt.ts'
import type { Transaction } from '../primitives/transaction.ts'
import type { Journal } from '../state/journal.ts'
import { CodedError, isCoded } from '../util/errors.ts'
import { addResult, type BlockRun, beginBlock, finishBlock } from './block-run.ts'
import type { Engine, Interrupt } from './engine.ts'
import type { BlockEnv } from './env.ts'
import type {
  BlockExecution,
  BuildBudget,
  Credit,
  DroppedTransaction,
  Executor,
  InvalidTransactionError,
  TransactionSource,
} from './execution.ts'
import { isPlainTransfer, runMessageTransaction, runPlainTransfer } from './transaction.ts'
import { validate } from './validity.ts'

/** No transaction is shorter than this: a signature alone has 67 bytes. */
const SMALLEST_TRANSACTION_BYTES = 100
/** Plain transfers between two looks at the clock. */
const TRANSFERS_PER_CHECK = 64

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

/** A transaction the engine could not finish in time; nothing of it is left in the journal. */
type Attempt = Receipt | 'interrupted'

const attempt = async (
  journal: Journal,
  run: BlockRun,
  tx: Transaction,
  engine: Engine,
  shouldStop: () => boolean,
): Promise<Attempt> => {
  const mark = journal.checkpoint()
  const interrupt: Interrupt = { sliceMs: LIMITS.execution.sliceMs, shouldStop }
  try {
    return await runMessageTransaction(journal, run, tx, engine, interrupt)
  } catch (error) {
    if (!isCoded(error) || error.code !== 'EXECUTION_INTERRUPTED') throw error
    journal.revert(mark)
    return 'interrupted'
  }
}

/** Time spent on loading the engine is not the transactions' time. */
const extendable = (budget: BuildBudget) => {
  let deadlineMs = budget.deadlineMs
  return {
    isOver: (): boolean => budget.nowMs() >= deadlineMs,
    async excluding<T>(work: Promise<T>): Promise<T> {
      const startMs = budget.nowMs()
      const result = await work
      deadlineMs += budget.nowMs() - startMs
      return result
    },
  }
}

/** Block execution by our own transaction rules; only code is run by an engine, which is loaded when the first code needs it. */
export const createFastExecutor = (loadEngine: () => Promise<Engine>): Executor => {
  const build = async (
    journal: Journal,
    env: BlockEnv,
    source: TransactionSource,
    budget: BuildBudget,
    credits: readonly Credit[] = [],
  ): Promise<BlockExecution> => {
    const run = beginBlock(env)
    const dropped: DroppedTransaction[] = []
    const pacer = createPacer()
    const time = extendable(budget)
    let bytesLeft = budget.maxBytes
    while (bytesLeft >= SMALLEST_TRANSACTION_BYTES && !time.isOver()) {
      if (pacer.due()) await pacer.giveWay()
      const tx = source.next()
      if (tx === undefined) break
      if (tx.raw.byteLength > bytesLeft) {
        source.skipSender(tx)
        continue
      }
      const reason = validate(journal, run, tx)
      if (reason !== undefined) {
        dropped.push({ transaction: tx, reason })
        // The sender's next one may fit where this one was used already.
        if (reason.code !== 'NONCE_TOO_LOW') source.skipSender(tx)
        continue
      }
      let receipt: Attempt
      if (isPlainTransfer(journal, run, tx)) receipt = runPlainTransfer(journal, run, tx)
      else {
        const engine = await time.excluding(loadEngine())
        const alone = run.transactions.length === 0
        receipt = await attempt(journal, run, tx, engine, alone ? never : time.isOver)
      }
      if (receipt === 'interrupted') break
      addResult(run, tx, receipt)
      bytesLeft -= tx.raw.byteLength
    }
    return finishBlock(run, journal, credits, dropped)
  }

  const execute = async (
    journal: Journal,
    env: BlockEnv,
    transactions: readonly Transaction[],
    credits: readonly Credit[] = [],
  ): Promise<BlockExecution> => {
    const run = beginBlock(env)
    const pacer = createPacer()
    for (const [index, tx] of transactions.entries()) {
      if (index % TRANSFERS_PER_CHECK === 0 && pacer.due()) await pacer.giveWay()
      const reason = validate(journal, run, tx)
      if (reason !== undefined)
        throw new CodedError<InvalidTransactionError>({ code: 'INVALID_TRANSACTION', index, reason })
      if (isPlainTransfer(journal, run, tx)) addResult(run, tx, runPlainTransfer(journal, run, tx))
      else {
        const engine = await loadEngine()
        addResult(run, tx, (await attempt(journal, run, tx, engine, never)) as Receipt)
        if (pacer.due()) await pacer.giveWay()
      }
    }
    return finishBlock(run, journal, credits, [])
  }

  return { build, execute, warmUp: async () => void (await loadEngine()) }
}
