import { assert } from '@tandem/base/assert.ts'
import { BUILD_LIMITS } from '../../config/limits/execution.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'
import { executionGasLimit } from '../../rules/transaction.ts'
import type { Journal } from '../../state/journal/journal.ts'
import type { BlockEnv } from '../block-env.ts'
import type { BlockExecution, BuildBudget, Credit, DroppedTransaction, TransactionSource } from '../executor-types.ts'
import { checkAborted, createPacer } from '../slice-clock.ts'
import type { TransactionRunner } from './block-executor.ts'
import { addResult, type BlockRun, beginBlock, receiptWithRoot, runPostExecution } from './block-run.ts'
import { BuildTimer } from './build-timer.ts'
import { isPlainTransfer } from './run-transaction.ts'
import { beginSystemContracts } from './system-calls.ts'
import { invalidReason } from './transaction-validity.ts'

/** Lower bound of a transaction's size: a signature alone has 67 bytes. */
const SMALLEST_TRANSACTION_BYTES = 100
/** Lower bound of a transaction's gas. */
const SMALLEST_TRANSACTION_GAS = 21_000n

/** True for errors that only say that this block has no room: it is full, or a development chain lowered its gas limit. */
const isRoomError = (code: DroppedTransaction['reason']['code']): boolean =>
  code === 'BLOCK_GAS_EXCEEDED' || code === 'BLOCK_BLOBS_EXCEEDED' || code === 'GAS_LIMIT_TOO_HIGH'

interface Candidate {
  readonly tx: Transaction
  /** Its gas bounds its time well below that of a block. */
  readonly isLight: boolean
  /** Time that its run may take, milliseconds. */
  readonly allowanceMs: number
}

/** Selects candidates and keeps those that did not fit. */
class Picker {
  readonly dropped: DroppedTransaction[] = []
  readonly #journal: Journal
  readonly #run: BlockRun
  readonly #source: TransactionSource
  /** Gas that transactions with code may use up to. */
  readonly #mostGas: bigint
  #bytesLeft: number

  constructor(journal: Journal, run: BlockRun, source: TransactionSource, { maxBytes, maxGas }: BuildBudget) {
    this.#journal = journal
    this.#run = run
    this.#source = source
    this.#bytesLeft = maxBytes
    const { maxBlockExecutionGas } = run.env.params
    const unreserved = maxBlockExecutionGas - maxBlockExecutionGas / BUILD_LIMITS.transferGasShare
    this.#mostGas = maxGas === undefined || maxGas > unreserved ? unreserved : maxGas
  }

  /** Returns the next valid candidate that still fits. */
  next(timer: BuildTimer): Candidate | undefined {
    for (let passed = 0; this.#hasRoom(); passed++) {
      // Passing over many transactions takes time as well.
      if (passed > 0 && timer.isOver()) return undefined
      const tx = this.#source.next()
      if (tx === undefined) return undefined
      if (tx.hash === this.#source.longestWaiting) timer.releaseHalf()
      const isTransfer = this.#isTransfer(tx)
      if (tx.raw.byteLength > this.#bytesLeft || !(isTransfer || this.#hasTurn(tx, timer))) {
        this.#source.skipSender(tx)
        continue
      }
      const reason = invalidReason(this.#journal, this.#run, tx)
      if (reason !== undefined) this.drop(tx, reason)
      else {
        const candidate = this.#timed(tx, timer, isTransfer || this.#isLight(tx))
        if (candidate !== undefined) return candidate
      }
    }
    return undefined
  }

  /** Returns undefined for a heavy transaction that this block has no time for. */
  #timed(tx: Transaction, timer: BuildTimer, isLight: boolean): Candidate | undefined {
    const { env, transactions } = this.#run
    const isFirst = transactions.length === 0
    if (isLight) return { tx, isLight, allowanceMs: timer.lightAllowanceMs(isFirst) }
    const allowanceMs = timer.heavyAllowanceMs(executionGasLimit(tx, env), isFirst)
    const neededMs = this.#source.neededMs?.(tx) ?? 0
    if (allowanceMs > 0 && allowanceMs >= neededMs) return { tx, isLight, allowanceMs }
    this.#source.skipSender(tx)
    if (allowanceMs === 0) this.#source.passedOver?.(tx)
    return undefined
  }

  #isTransfer(tx: Transaction): boolean {
    return tx.gasLimit <= BUILD_LIMITS.transferGas && isPlainTransfer(this.#journal, this.#run, tx)
  }

  #isLight(tx: Transaction): boolean {
    return (
      executionGasLimit(tx, this.#run.env) <= BUILD_LIMITS.lightGas || isPlainTransfer(this.#journal, this.#run, tx)
    )
  }

  /** Returns false where the rest of the block is reserved for transfers. The first transaction is exempt. */
  #hasTurn(tx: Transaction, timer: BuildTimer): boolean {
    if (timer.isForTransfers) return false
    const { env, gasUsed, transactions } = this.#run
    return transactions.length === 0 || gasUsed + executionGasLimit(tx, env) <= this.#mostGas
  }

  took(tx: Transaction): void {
    this.#bytesLeft -= tx.raw.byteLength
  }

  drop(transaction: Transaction, reason: DroppedTransaction['reason']): void {
    // A candidate that does not fit stays valid for the next block.
    if (!isRoomError(reason.code)) this.dropped.push({ transaction, reason })
    // After a used nonce the sender's next transaction may fit.
    if (reason.code !== 'NONCE_TOO_LOW') this.#source.skipSender(transaction)
  }

  stopped(tx: Transaction, ranMs: number): void {
    this.#source.skipSender(tx)
    this.#source.overran?.(tx, ranMs)
  }

  #hasRoom(): boolean {
    const { env, gasUsed } = this.#run
    return (
      this.#bytesLeft >= SMALLEST_TRANSACTION_BYTES &&
      gasUsed + SMALLEST_TRANSACTION_GAS <= env.params.maxBlockExecutionGas
    )
  }
}

/** Implements `Executor.build` over a transaction runner. */
export const buildBlock = async (
  runner: TransactionRunner,
  journal: Journal,
  env: BlockEnv,
  source: TransactionSource,
  budget: BuildBudget,
  credits: readonly Credit[],
): Promise<BlockExecution> => {
  const run = beginBlock(env)
  const picker = new Picker(journal, run, source, budget)
  const pacer = createPacer(budget.signal)
  const timer = new BuildTimer(budget)
  if (source.longestWaiting !== undefined) timer.keepHalf()
  const systemCall = runner.systemCall(journal, env)
  const begin = async () => {
    await beginSystemContracts(journal, env, run.rules, systemCall)
    return runner.begin(journal, env)
  }
  // The first block of a process loads code; without this, the time for its transactions would be over before the first of them.
  const runTransaction = await timer.excluding(begin())
  while (!timer.isOver()) {
    const pause = pacer.check()
    if (pause !== undefined) {
      await pause
      continue
    }
    const candidate = picker.next(timer)
    if (candidate === undefined) break
    const { tx } = candidate
    const loading = runner.prepare(tx, journal, run)
    if (loading !== undefined) await timer.excluding(loading)
    const trial = timer.begin(candidate.isLight, candidate.allowanceMs)
    const attempt = runTransaction(tx, run, trial.until)
    const receipt = attempt instanceof Promise ? await attempt : attempt
    assert(receipt !== 'exceeded', 'a block under construction has no header gas bound')
    if (receipt === 'interrupted') {
      checkAborted(budget.signal)
      picker.stopped(tx, trial.stopped())
    } else if ('fault' in receipt) picker.drop(tx, { code: 'EXECUTION_FAULT', message: receipt.fault.message })
    else {
      const settled = receiptWithRoot(run, journal, receipt)
      addResult(run, tx, settled instanceof Promise ? await settled : settled)
      picker.took(tx)
    }
  }
  return runPostExecution(run, journal, credits, picker.dropped, systemCall)
}
