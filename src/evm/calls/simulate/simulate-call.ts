import { copyBytes, EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { keccak256Hex } from '../../../crypto/hash.ts'
import { EMPTY_BLOOM } from '../../../primitives/receipt/bloom.ts'
import type { Log } from '../../../primitives/receipt/log.ts'
import type { Receipt } from '../../../primitives/receipt/receipt.ts'
import type { Transaction } from '../../../primitives/transaction/transaction.ts'
import { serializeTransaction, type UnsignedTransaction } from '../../../primitives/transaction/transaction-encoding.ts'
import type { Journal } from '../../../state/journal/journal.ts'
import { addResult, type BlockRun } from '../../block/block-run.ts'
import { isPlainTransfer, runMessageTransaction, runPlainTransfer } from '../../block/run-transaction.ts'
import { invalidSimulatedReason } from '../../block/transaction-validity.ts'
import type { CallError, Engine, EngineOptions } from '../../engine.ts'
import { transferLogOf } from '../../engines/transfer-logs.ts'
import type { CallMessage } from '../message/call-args.ts'
import { checkCallChainId, prefetchAuthorities } from '../message/call-message.ts'
import type { SimulationLimits } from './simulation-limits.ts'
import type { SimulatedCall } from './types.ts'

const typeOf = ({ gasPrice, accessList, authorizationList }: CallMessage): 0 | 1 | 2 | 4 => {
  if (authorizationList !== undefined) return 4
  if (gasPrice === undefined) return 2
  return accessList === undefined ? 0 : 1
}

/** Returns the transaction of a simulated call, with a zero signature and its usual hash; legacy with a legacy price, free without fees. `defaults`: of absent members. */
export const simulatedTransaction = (
  message: CallMessage,
  defaults: Pick<Transaction, 'nonce' | 'gasLimit'> & { readonly chainId: number },
): Transaction => {
  const { gasPrice, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = message
  const unsigned: UnsignedTransaction = {
    type: typeOf(message),
    ...defaults,
    maxFeePerGas: gasPrice ?? maxFeePerGas,
    maxPriorityFeePerGas: gasPrice ?? maxPriorityFeePerGas,
    to: message.to,
    value: message.value,
    data: message.data,
    accessList: message.accessList ?? [],
    ...(message.authorizationList !== undefined && { authorizationList: message.authorizationList }),
  }
  const raw = serializeTransaction(unsigned, { yParity: 0, r: EMPTY_BYTES, s: EMPTY_BYTES })
  return { ...unsigned, v: 0n, r: EMPTY_BYTES, s: EMPTY_BYTES, raw, hash: keccak256Hex(raw), from: message.from }
}

/** State shared by the calls of one simulated block. */
interface SimulatedBlockContext {
  readonly journal: Journal
  readonly run: BlockRun
  readonly engine: Engine
  readonly options: EngineOptions
  readonly meter: SimulationLimits
  /** Nonces and fees are checked. */
  readonly strict: boolean
}

const ownLogs = (logs: readonly Log[]): readonly Log[] => logs.map(log => ({ ...log, data: copyBytes(log.data) }))

/** Returns the transaction of a call at its position; absent members default to all that the block and the simulation have left. */
const place = ({ journal, run, meter }: SimulatedBlockContext, call: CallMessage): Transaction => {
  const { env } = run
  const left = env.gasLimit - run.gasUsed
  const gasLimit = call.gas ?? left
  return simulatedTransaction(call, {
    chainId: env.params.chainId,
    nonce: call.nonce ?? journal.nonce(call.from),
    // A call too large for the block is refused unchanged.
    gasLimit: gasLimit > left ? gasLimit : meter.gasFor(gasLimit),
  })
}

interface Outcome {
  readonly receipt: Receipt
  readonly call: SimulatedCall
}

const runPlain = ({ journal, run, options }: SimulatedBlockContext, tx: Transaction): Outcome => {
  const receipt = runPlainTransfer(journal, run, tx)
  const { gasUsed } = receipt
  const logs = options.transfers && tx.value > 0n && tx.to !== null ? [transferLogOf(tx.from, tx.to, tx.value)] : []
  return { receipt, call: { output: EMPTY_BYTES, logs, gasUsed, peakGas: gasUsed, failure: null } }
}

const runMessage = async (
  { journal, run, engine, options }: SimulatedBlockContext,
  tx: Transaction,
): Promise<Outcome> => {
  const { receipt, result, peakGas } = await runMessageTransaction(journal, run, tx, engine, options)
  const { output, failure, tracedLogs } = result
  const logs = ownLogs(receipt.logs)
  const { gasUsed } = receipt
  return {
    receipt: receipt.logs.length === 0 ? { ...receipt, logsBloom: EMPTY_BLOOM } : { ...receipt, logs },
    call: {
      output: copyBytes(output),
      logs: tracedLogs === undefined ? logs : ownLogs(tracedLogs),
      gasUsed,
      peakGas,
      failure,
    },
  }
}

const runs = (block: SimulatedBlockContext, tx: Transaction): Outcome | Promise<Outcome> => {
  const { journal, run, options } = block
  const isPlain = isPlainTransfer(journal, run, tx) && tx.to !== null && !options.moves?.has(tx.to)
  return isPlain ? runPlain(block, tx) : runMessage(block, tx)
}

/** Runs one call of a block and adds its transaction and receipt. Throws SIMULATION_CALL_INVALID, SIMULATION_LIMIT and CHAIN_ID_MISMATCH. */
export const simulateCall = async (block: SimulatedBlockContext, call: CallMessage): Promise<SimulatedCall> => {
  const { journal, run, meter, options, strict } = block
  checkCallChainId(call, run.env)
  await options.prefetch?.code(call.from)
  if (call.to !== null) await options.prefetch?.code(call.to)
  await prefetchAuthorities(options.prefetch, call.authorizationList)
  const tx = place(block, call)
  const reason = invalidSimulatedReason(journal, run, tx, strict)
  if (reason !== undefined)
    throw new CodedError<CallError>({
      code: 'SIMULATION_CALL_INVALID',
      number: run.env.number,
      index: run.transactions.length,
      reason,
    })
  // A nonce that differs from the account's is shown, but not used.
  const nonce = journal.nonce(call.from)
  const { receipt, call: done } = await runs(block, tx.nonce === nonce ? tx : { ...tx, nonce })
  addResult(run, tx, receipt)
  meter.called(done)
  return done
}
