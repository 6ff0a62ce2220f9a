import { CodedError } from '@tandem/base/errors.ts'
import { EXECUTION_LIMITS } from '../../config/limits/execution.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'
import type { Journal } from '../../state/journal/journal.ts'
import type { InterruptedError } from '../engine.ts'
import type { BlockExecution, Credit, DroppedTransaction } from '../executor-types.ts'
import { SliceClock } from '../slice-clock.ts'
import { type BlockRun, finishBlock } from './block-run.ts'
import { depositRequest } from './deposits.ts'
import { type RunSystemCall, takeQueuedRequests } from './system-calls.ts'

/** Throws CodedError<InterruptedError> when the signal has aborted. */
export const checkAborted = (signal: AbortSignal | undefined): void => {
  if (signal?.aborted === true) throw new CodedError<InterruptedError>({ code: 'EXECUTION_INTERRUPTED' })
}

/** Clock of the work between two transactions. */
export const createPacer = (signal: AbortSignal | undefined): SliceClock =>
  new SliceClock({ sliceMs: EXECUTION_LIMITS.sliceMs, shouldStop: () => signal?.aborted === true })

/* Phases of a block after its transactions, for any runner. */

/** Returns the receipt of a transaction just run, which before Byzantium has the state root instead of a status. */
export const receiptWithRoot = (run: BlockRun, journal: Journal, receipt: Receipt): Receipt | Promise<Receipt> =>
  run.rules.hasStatus || run.env.stateRoot === undefined
    ? receipt
    : run.env.stateRoot(journal.changes()).then(root => {
        const { status: _, ...rest } = receipt
        return { ...rest, root }
      })

/** Runs the phase after the last transaction: fees, credits, and requests to the consensus layer. */
export const runPostExecution = async (
  run: BlockRun,
  journal: Journal,
  credits: readonly Credit[],
  dropped: readonly DroppedTransaction[],
  systemCall: RunSystemCall,
): Promise<BlockExecution> => {
  const execution = finishBlock(run, journal, credits, dropped)
  const { beacon } = run.env
  if (beacon === undefined || !run.rules.hasRequests) return execution
  const deposits = depositRequest(run.receipts, beacon.depositContract)
  const queued = await takeQueuedRequests(journal, systemCall)
  return { ...execution, requests: deposits === undefined ? queued : [deposits, ...queued] }
}
