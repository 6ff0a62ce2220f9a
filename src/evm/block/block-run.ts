import { CodedError } from '@tandem/base/errors.ts'
import { EXECUTION_LIMITS } from '../../config/limits/execution.ts'
import { mergeBlooms } from '../../primitives/receipt/bloom.ts'
import type { FailedExecution } from '../../primitives/receipt/failed-execution.ts'
import type { BlockInternalTransfer } from '../../primitives/receipt/internal-transfer.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'
import { type ExecutionRules, executionRulesAt } from '../../rules/execution-rules.ts'
import { assignFees } from '../../rules/money/fees.ts'
import type { Journal } from '../../state/journal/journal.ts'
import type { BlockEnv } from '../block-env.ts'
import type { EngineResult } from '../engine.ts'
import type { BlockExecution, Credit, DroppedTransaction, GasUsedError } from '../executor-types.ts'
import { REASON } from '../failure-reasons.ts'
import { depositRequest } from './deposits.ts'
import { type RunSystemCall, takeQueuedRequests } from './system-calls.ts'
import type { BlockPosition } from './transaction-validity.ts'

const { failureBytes, blockFailureBytes } = EXECUTION_LIMITS

/** State of a block under execution. */
export interface BlockRun extends BlockPosition {
  readonly env: BlockEnv
  readonly rules: ExecutionRules
  readonly transactions: Transaction[]
  readonly receipts: Receipt[]
  readonly internal: BlockInternalTransfer[]
  readonly failed: FailedExecution[]
  /** Bytes of the outputs kept in `failed`. */
  failedBytes: number
  gasUsed: bigint
  blobGasUsed: bigint
  feesWei: bigint
}

export const beginBlock = (env: BlockEnv): BlockRun => ({
  env,
  rules: executionRulesAt(env.params, env.number),
  transactions: [],
  receipts: [],
  internal: [],
  failed: [],
  failedBytes: 0,
  gasUsed: 0n,
  blobGasUsed: 0n,
  feesWei: 0n,
})

export const addResult = (run: BlockRun, transaction: Transaction, receipt: Receipt): void => {
  run.transactions.push(transaction)
  run.receipts.push(receipt)
  run.gasUsed += receipt.gasUsed
  if (receipt.blobGasUsed !== undefined) run.blobGasUsed += receipt.blobGasUsed
  // Tips already paid to the coinbase are not divided.
  const price = run.env.params.tips === 'coinbase' ? run.env.baseFeePerGas : receipt.effectiveGasPrice
  run.feesWei += receipt.gasUsed * price
}

/** Notes what the next transaction's code moved, or why it failed. */
export const addEffects = (
  run: BlockRun,
  { internal = [], failure, output }: Pick<EngineResult, 'internal' | 'failure' | 'output'>,
): void => {
  const transactionIndex = run.transactions.length
  for (const transfer of internal) run.internal.push({ ...transfer, transactionIndex })
  if (failure === null) return
  const isRevert = failure.kind === 'revert'
  const room = isRevert ? Math.min(failureBytes, blockFailureBytes - run.failedBytes) : 0
  const kept = new Uint8Array(output.subarray(0, room))
  run.failedBytes += kept.byteLength
  run.failed.push({ transactionIndex, error: isRevert ? REASON.revert : failure.reason, output: kept })
}

/** `index`: the transaction that exceeds the header's gas. */
export const gasUsedExceeded = (index: number, gasUsed: bigint): CodedError<GasUsedError> =>
  new CodedError<GasUsedError>({ code: 'BODY_GAS_USED', index, gasUsed })

/** Throws CodedError<GasUsedError> when the transactions exceed the gas used in the proposal's header. */
export const checkGasUsed = ({ gasUsed, transactions }: BlockRun, bound: bigint | undefined): void => {
  if (bound === undefined || gasUsed <= bound) return
  throw gasUsedExceeded(transactions.length - 1, bound)
}

const credit = (journal: Journal, credits: readonly Credit[]): void => {
  for (const { address, amountWei } of credits) if (amountWei > 0n) journal.addBalance(address, amountWei)
  journal.endTransaction()
}

/** Pays shares of the fees, then the protocol's credits (docs/design/money.md#minting), which the block's transactions do not see. */
const finishBlock = (
  run: BlockRun,
  journal: Journal,
  credits: readonly Credit[],
  dropped: readonly DroppedTransaction[],
): BlockExecution => {
  const { env, transactions, receipts, internal, failed, gasUsed } = run
  const shared = assignFees(run.feesWei, env.params.feeShares, env.miner)
  credit(journal, [
    { address: env.proposerReward, amountWei: shared.proposer },
    { address: env.miner, amountWei: shared.miner },
    { address: env.foundation, amountWei: shared.foundation },
  ])
  credit(journal, credits)
  const fees = { ...shared, burnt: shared.burnt + run.blobGasUsed * (env.blobs?.baseFeePerGas ?? 0n) }
  const logsBloom = mergeBlooms(receipts.map(r => r.logsBloom))
  return { transactions, receipts, internal, failed, gasUsed, logsBloom, fees, dropped }
}

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
