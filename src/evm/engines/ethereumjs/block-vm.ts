import type { Common, ParamsDict } from '@ethereumjs/common'
import { createTxFromRLP, paramsTx, type TxOptions, type TypedTransaction } from '@ethereumjs/tx'
import { Address, KECCAK256_NULL } from '@ethereumjs/util'
import { createVM, type RunTxResult, runTx } from '@ethereumjs/vm'
import { assert } from '@tandem/base/assert.ts'
import { bytesToHex, EMPTY_BYTES, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { evmForkAt, GAS_PER_BLOB } from '../../../config/forks.ts'
import { EXECUTION_LIMITS } from '../../../config/limits/execution.ts'
import { UNBOUNDED_GAS } from '../../../config/networks.ts'
import { createAddress } from '../../../primitives/receipt/address.ts'
import type { Receipt } from '../../../primitives/receipt/receipt.ts'
import { effectiveGasPrice, type Transaction } from '../../../primitives/transaction/transaction.ts'
import { encodeTransaction } from '../../../primitives/transaction/transaction-encoding.ts'
import { impersonatedSenderOn } from '../../../rules/development.ts'
import { executionRulesAt } from '../../../rules/execution-rules.ts'
import { blobGas, maxBlobFee } from '../../../rules/money/blob-fee.ts'
import { executionGasLimit } from '../../../rules/transaction.ts'
import type { Journal } from '../../../state/journal/journal.ts'
import type { TransactionRunner } from '../../block/block-executor.ts'
import {
  addEffects,
  addResult,
  type BlockRun,
  beginBlock,
  checkGasUsed,
  receiptWithRoot,
  runPostExecution,
} from '../../block/block-run.ts'
import { giveUp } from '../../block/engine-runner.ts'
import { messageGasBound } from '../../block/run-transaction.ts'
import {
  beginSystemContracts,
  endSystemCall,
  type RunSystemCall,
  systemCallFailed,
  systemMessage,
} from '../../block/system-calls.ts'
import type { BlockEnv } from '../../block-env.ts'
import type { EngineOptions } from '../../engine.ts'
import type { BlockExecution, Credit, ExecutionBounds } from '../../executor-types.ts'
import { checkAborted } from '../../slice-clock.ts'
import { createCommon } from './common.ts'
import { hasBlobVersions } from './deviations.ts'
import { createMachine, logFrom } from './engine.ts'
import { libraryAddress, libraryBlock } from './library-block.ts'
import type { EthereumJsStateAdapter } from './state-adapter.ts'
import { engineFailure, errorOf, WatchedRun } from './watched-run.ts'

/* Impersonated transactions (primitives/transaction/impersonation.ts) for EthereumJS' VM, which wants signatures and codeless senders. */

const STAND_IN = { yParity: 0, r: Uint8Array.of(1), s: Uint8Array.of(1) } as const

/** Returns the library's transaction with a signature that it accepts; the sender must be set separately. */
const unsignedLibraryTransaction = (tx: Transaction, options: TxOptions): TypedTransaction =>
  createTxFromRLP(encodeTransaction(tx, STAND_IN).raw, options)

/** Hides the account's code at the next read: EIP-3607 does not apply to impersonated accounts. */
const hideCodeOnce = (state: EthereumJsStateAdapter, sender: Hex): void => {
  const { getAccount } = state
  const address = new Address(hexToBytes(sender))
  state.getAccount = async asked => {
    const account = await getAccount.call(state, asked)
    if (!asked.equals(address)) return account
    state.getAccount = getAccount
    if (account !== undefined) account.codeHash = KECCAK256_NULL
    return account
  }
}

/** The VM refused a transaction; `reason` is its own text. */
interface OracleRefusal {
  readonly code: 'ORACLE_REFUSED'
  readonly index: number
  readonly reason: string
}

type BlockVm = Awaited<ReturnType<typeof openVm>>

/** Opens the VM of one block over its journal. */
const openVm = async (journal: Journal, env: BlockEnv, hasOwnPrecompiles: boolean) => {
  const common = createCommon(env.params, evmForkAt(env.params.forks, env.number))
  const { evm, state, parts } = createMachine(common, env, false, hasOwnPrecompiles)
  state.attach(journal)
  return { vm: await createVM({ ...parts, evm }), evm, state, block: libraryBlock(env, common) }
}

/** Starts a transaction or a system call; one that was stopped before it left checkpoints in the VM. */
const beginRun = ({ evm, state }: BlockVm, journal: Journal, options: EngineOptions): WatchedRun => {
  const run = new WatchedRun(journal, options)
  state.attach(journal)
  evm.begin(run)
  return run
}

/** Runs system calls on the VM's own interpreter. */
const systemCallIn =
  (opening: Promise<BlockVm>, journal: Journal): RunSystemCall =>
  async call => {
    const open = await opening
    const { from, gas, gasPrice, data } = systemMessage(call)
    beginRun(open, journal, {})
    const { execResult } = await open.evm.runCall({
      block: open.block,
      caller: libraryAddress(from),
      to: libraryAddress(call.to),
      gasLimit: gas,
      gasPrice,
      data,
      skipNonceIncrement: true,
    })
    if (execResult.exceptionError !== undefined) throw systemCallFailed(call.to, execResult.exceptionError.error)
    endSystemCall(journal)
    return execResult.returnValue
  }

/**
 * Runs the transactions of blocks in the VM of EthereumJS over a journal, with its deviations from Ethereum mended. It shares with this
 * node's own execution the journal, the rules of validity and the sums at the end of the block. Slow: 0.4 ms for a transfer.
 */
export const createVmRunner = (logger: Logger): TransactionRunner => ({
  async begin(journal, env) {
    const open = await openVm(journal, env, true)
    return async (tx, run, { gasLeft, ...until }) => {
      const mark = journal.checkpoint()
      const options: EngineOptions = {
        interrupt: { sliceMs: EXECUTION_LIMITS.sliceMs, ...until },
        ...(gasLeft !== undefined && { gasBound: messageGasBound(tx, run, gasLeft) }),
      }
      try {
        return await runOne(open, journal, run, tx, options)
      } catch (error) {
        return giveUp(error, { journal, mark, tx, logger, engine: 'ethereumjs' })
      }
    }
  },
  systemCall: (journal, env) => {
    let opening: Promise<BlockVm> | undefined
    return call => {
      opening ??= openVm(journal, env, true)
      return systemCallIn(opening, journal)(call)
    }
  },
  prepare: () => undefined,
})

/** Executes a whole block with the VM and its precompiles. Throws CodedError<OracleRefusal>, and for bounds the executor's errors. */
export const runOracle = async (
  journal: Journal,
  env: BlockEnv,
  transactions: readonly Transaction[],
  credits: readonly Credit[],
  { gasUsed, signal }: ExecutionBounds = {},
): Promise<BlockExecution> => {
  const opening = openVm(journal, env, false)
  const systemCall = systemCallIn(opening, journal)
  const run = beginBlock(env)
  await beginSystemContracts(journal, env, run.rules, systemCall)
  const interrupt = { sliceMs: EXECUTION_LIMITS.sliceMs, shouldStop: () => signal?.aborted === true }
  for (const [index, tx] of transactions.entries()) {
    try {
      checkOwnRules(journal, run, tx)
      const receipt = await runOne(await opening, journal, run, tx, { interrupt })
      addResult(run, tx, await receiptWithRoot(run, journal, receipt))
    } catch (cause) {
      checkAborted(signal)
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new CodedError<OracleRefusal>({ code: 'ORACLE_REFUSED', index, reason }, { cause })
    }
    checkAborted(signal)
    checkGasUsed(run, gasUsed)
  }
  return runPostExecution(run, journal, credits, [], systemCall)
}

/** Rules of this chain beyond the VM's: the whole gas limit payable, a valid chain id, room for gas and blobs. */
const checkOwnRules = (journal: Journal, { env, rules, gasUsed, blobGasUsed }: BlockRun, tx: Transaction): void => {
  if (tx.type === 3) checkOwnBlobRules(env, tx, blobGasUsed)
  if (tx.chainId !== undefined && !rules.hasReplayProtection) throw new Error('signed for a chain before EIP-155')
  if (tx.chainId !== undefined && tx.chainId !== env.params.chainId) throw new Error('wrong chain id')
  if (journal.balance(tx.from) < tx.gasLimit * tx.maxFeePerGas + maxBlobFee(tx) + tx.value)
    throw new Error('the whole limit is not payable')
  if (tx.gasLimit > env.gasLimit) throw new Error('gas limit above the block limit')
  const { maxBlockExecutionGas } = env.params
  if (executionGasLimit(tx, env) + gasUsed > env.gasLimit) throw new Error('the block is full')
  if (executionGasLimit(tx, env) + gasUsed > maxBlockExecutionGas) throw new Error('the block may execute no more')
}

const checkOwnBlobRules = ({ blobs }: BlockEnv, tx: Transaction, blobGasUsed: bigint): void => {
  if (blobs === undefined) throw new Error('blob transactions are not part of this chain')
  if (!hasBlobVersions(tx)) throw new Error('a blob hash of another version')
  if (blobGasUsed + blobGas(tx) > GAS_PER_BLOB * BigInt(blobs.maxPerBlock)) throw new Error('too many blobs')
}

/** The library's transaction parameters, with the flat calldata price (docs/design/evm-rules.md#calldata) and the bound on blobs. */
const transactionParams = ({ params, blobs }: BlockEnv): ParamsDict => {
  const copy: ParamsDict = structuredClone(paramsTx)
  const replace = (name: string, value: bigint | number): void => {
    for (const entry of Object.values(copy)) if (name in entry) entry[name] = Number(value)
  }
  if (params.calldataGasPerByte !== null) {
    replace('txDataZeroGas', params.calldataGasPerByte)
    replace('txDataNonZeroGas', params.calldataGasPerByte)
  }
  if (params.maxTxExecutionGas !== null) replace('maxTransactionGasLimit', UNBOUNDED_GAS)
  if (blobs !== undefined) replace('maxBlobGasPerBlock', GAS_PER_BLOB * BigInt(blobs.maxPerBlock))
  return copy
}

/** The library's transaction: sender recovered, gas limit reduced to its usable part (docs/design/evm-rules.md#limits). */
const oracleTransaction = (tx: Transaction, env: BlockEnv, common: Common): TypedTransaction => {
  const options = { common, params: transactionParams(env), freeze: false }
  const impersonated = impersonatedSenderOn(env.params, tx)
  const decoded = impersonated ? unsignedLibraryTransaction(tx, options) : createTxFromRLP(tx.raw, options)
  const sender = impersonated ? libraryAddress(impersonated) : decoded.getSenderAddress()
  if (sender.toString() !== tx.from) throw new Error(`sender ${sender.toString()} is not ${tx.from}`)
  return Object.assign(decoded, { gasLimit: executionGasLimit(tx, env), getSenderAddress: () => sender })
}

const runOne = async (
  open: BlockVm,
  journal: Journal,
  run: BlockRun,
  tx: Transaction,
  options: EngineOptions,
): Promise<Receipt> => {
  const { env } = run
  const { vm, state, block } = open
  const libraryTx = oracleTransaction(tx, env, vm.common)
  const price = effectiveGasPrice(tx, vm.common.isActivatedEIP(1559) ? env.baseFeePerGas : 0n)
  const watched = beginRun(open, journal, options)
  // The unusable part of the limit is paid too: code can see the balance.
  const withheld = (tx.gasLimit - libraryTx.gasLimit) * price
  if (withheld > 0n) journal.subBalance(tx.from, withheld)
  if (impersonatedSenderOn(env.params, tx) !== undefined) hideCodeOnce(state, tx.from)
  const result = await runTx(vm, { tx: libraryTx, block, blockGasUsed: run.gasUsed })
  if (withheld > 0n) journal.addBalance(tx.from, withheld)
  assert(result.amountSpent === result.totalGasSpent * price, 'both price a unit of gas alike')
  takeBackTip(journal, env, result)
  journal.endTransaction()
  const { exceptionError, returnValue } = result.execResult
  const failure = engineFailure(errorOf(exceptionError))
  const output = failure?.kind === 'halt' ? EMPTY_BYTES : returnValue
  addEffects(run, { internal: watched.internal, failure, output })
  return receiptFrom(tx, env, result, price)
}

/** The VM pays the tip to the coinbase; here the whole fee is divided at the end of the block (docs/design/money.md#fees). */
const takeBackTip = (journal: Journal, env: BlockEnv, { minerValue }: RunTxResult): void => {
  if (minerValue === 0n || env.params.tips === 'coinbase') return
  journal.subBalance(env.miner, minerValue)
  if (executionRulesAt(env.params, env.number).sweepsEmpty) journal.sweepTouched()
}

const receiptFrom = (tx: Transaction, env: BlockEnv, result: RunTxResult, price: bigint): Receipt => {
  const { receipt, totalGasSpent, bloom, execResult, blobGasUsed } = result
  const failed = 'status' in receipt ? Number(receipt.status) === 0 : execResult.exceptionError !== undefined
  return {
    type: tx.type,
    status: failed ? 0 : 1,
    cumulativeGasUsed: receipt.cumulativeBlockGasUsed,
    gasUsed: totalGasSpent,
    effectiveGasPrice: price,
    contractAddress: contractAddress(tx, result),
    logsBloom: bloom.bitvector,
    logs: receipt.logs.map(logFrom),
    ...(blobGasUsed !== undefined && { blobGasUsed, blobGasPrice: env.blobs?.baseFeePerGas ?? 0n }),
  }
}

const contractAddress = (tx: Transaction, { createdAddress }: RunTxResult): Hex | null => {
  if (tx.to !== null) return null
  return createdAddress === undefined ? createAddress(tx.from, tx.nonce) : bytesToHex(createdAddress.bytes)
}
