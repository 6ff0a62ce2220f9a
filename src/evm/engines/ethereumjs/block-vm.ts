import type { Block as EthereumJsBlock } from '@ethereumjs/block'
import type { Common, ParamsDict } from '@ethereumjs/common'
import { createTxFromRLP, paramsTx, type TypedTransaction } from '@ethereumjs/tx'
import { Address } from '@ethereumjs/util'
import { createVM, type RunTxResult, runTx, type VM } from '@ethereumjs/vm'
import { assert } from '@tandem/base/assert.ts'
import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { GAS_PER_BLOB } from '../../../config/blobs.ts'
import { evmForkAt } from '../../../config/forks.ts'
import { createAddress } from '../../../primitives/address.ts'
import type { Receipt } from '../../../primitives/receipt/receipt.ts'
import type { Transaction } from '../../../primitives/transaction/transaction.ts'
import { effectiveGasPrice } from '../../../primitives/transaction/transaction.ts'
import { impersonatedSenderOn } from '../../../rules/development.ts'
import { blobGas, maxBlobFee } from '../../../rules/ethereum/blob-fee.ts'
import { executionRulesAt } from '../../../rules/execution-rules.ts'
import type { Journal } from '../../../state/journal/journal.ts'
import { receiptWithRoot, runPostExecution, runPreExecution } from '../../block/block-phases.ts'
import { addResult, type BlockRun, beginBlock, checkGasUsed } from '../../block/block-run.ts'
import { checkAborted } from '../../block/pacer.ts'
import { endSystemCall, type RunSystemCall, systemCallFailed, systemMessage } from '../../block/system-calls.ts'
import type { BlockEnv } from '../../block-env.ts'
import type { BlockExecution, Credit, ExecutionBounds } from '../../executor-types.ts'
import { createCommon } from './common.ts'
import { createEthereumEvm, hasBlobVersions } from './deviations.ts'
import { hideCodeOnce, unsignedLibraryTransaction } from './impersonation.ts'
import { EthereumJsStateAdapter } from './state-adapter.ts'

/** The VM refused a transaction; `reason` is its own text. */
interface OracleRefusal {
  readonly code: 'ORACLE_REFUSED'
  readonly index: number
  readonly reason: string
}

/** Runs the next transaction of its block. Throws the VM's errors, with the journal reverted to before it. */
type OracleRun = (tx: Transaction, gasUsedBefore: bigint) => Promise<Receipt>

/**
 * The VM of EthereumJS over a journal, with its deviations from Ethereum mended. It shares with the executor only the journal, its adapter and the sums at the end
 * of the block. Slow (0.4 ms per transfer): for tests, shadow mode and doubtful cases.
 */
export const beginOracleRun = async (journal: Journal, env: BlockEnv): Promise<OracleRun> => {
  const common = createCommon(env.params, evmForkAt(env.params.forks, env.number))
  const vm = await createOracleVm(common, journal, env)
  const block = blockFrom(env, common)
  return (tx, gasUsedBefore) => runOne(vm, block, journal, env, tx, gasUsedBefore)
}

/** Runs system calls on the VM's own interpreter. */
export const oracleSystemCall =
  (journal: Journal, env: BlockEnv): RunSystemCall =>
  async call => {
    const common = createCommon(env.params, evmForkAt(env.params.forks, env.number))
    const vm = await createOracleVm(common, journal, env)
    const { from, gas, gasPrice, data } = systemMessage(call)
    const { execResult } = await vm.evm.runCall({
      block: blockFrom(env, common),
      caller: new Address(hexToBytes(from)),
      to: new Address(hexToBytes(call.to)),
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
 * Executes a whole block with the VM alone. Throws CodedError<OracleRefusal> at the first transaction that it refuses, and for bounds
 * the executor's errors: they are checked between transactions only.
 */
export const runOracle = async (
  journal: Journal,
  env: BlockEnv,
  transactions: readonly Transaction[],
  credits: readonly Credit[],
  { gasUsed, signal }: ExecutionBounds = {},
): Promise<BlockExecution> => {
  const runTransaction = await beginOracleRun(journal, env)
  const systemCall = oracleSystemCall(journal, env)
  const run = beginBlock(env)
  await runPreExecution(run, journal, systemCall)
  for (const [index, tx] of transactions.entries()) {
    try {
      checkOwnRules(journal, run, tx)
      addResult(run, tx, await receiptWithRoot(run, journal, await runTransaction(tx, run.gasUsed)))
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new CodedError<OracleRefusal>({ code: 'ORACLE_REFUSED', index, reason }, { cause })
    }
    checkAborted(signal)
    checkGasUsed(run, gasUsed)
  }
  return runPostExecution(run, journal, credits, [], systemCall)
}

const createOracleVm = (common: Common, journal: Journal, env: BlockEnv): Promise<VM> => {
  const state = new EthereumJsStateAdapter()
  state.attach(journal)
  const blockchain = {
    getBlock: async (number: number) => ({ hash: () => hexToBytes(env.blockHash(number)) }),
    putBlock: async () => {},
    shallowCopy: () => blockchain,
  }
  const evm = createEthereumEvm({ common, stateManager: state, blockchain }, env.params.precompilePrices)
  return createVM({ common, stateManager: state, blockchain, evm })
}

/** The part of a block that runTx reads; a real one would require a blob base fee of at least 1. */
const blockFrom = (env: BlockEnv, common: Common): EthereumJsBlock =>
  ({
    common,
    header: {
      number: BigInt(env.number),
      coinbase: new Address(hexToBytes(env.miner)),
      timestamp: BigInt(env.timestamp),
      difficulty: BigInt(env.prevRandao),
      prevRandao: hexToBytes(env.prevRandao),
      gasLimit: env.gasLimit,
      gasUsed: 0n,
      baseFeePerGas: env.baseFeePerGas,
      getBlobGasPrice: () => env.blobs?.baseFeePerGas ?? 0n,
    },
    errorStr: () => `block ${env.number}`,
  }) as unknown as EthereumJsBlock

/** Rules of this chain beyond the VM's: the whole gas limit payable, a valid chain id, room for gas and blobs. */
const checkOwnRules = (journal: Journal, { env, rules, gasUsed, blobGasUsed }: BlockRun, tx: Transaction): void => {
  if (tx.type === 3) checkOwnBlobRules(env, tx, blobGasUsed)
  if (tx.chainId !== undefined && !rules.hasReplayProtection) throw new Error('signed for a chain before EIP-155')
  if (tx.chainId !== undefined && tx.chainId !== env.params.chainId) throw new Error('wrong chain id')
  if (journal.balance(tx.from) < tx.gasLimit * tx.maxFeePerGas + maxBlobFee(tx) + tx.value)
    throw new Error('the whole limit is not payable')
  if (tx.gasLimit > env.gasLimit) throw new Error('gas limit above the block limit')
  const { maxBlockExecutionGas } = env.params
  if (cappedLimit(env, tx) + gasUsed > env.gasLimit) throw new Error('the block is full')
  if (cappedLimit(env, tx) + gasUsed > maxBlockExecutionGas) throw new Error('the block may execute no more')
}

const checkOwnBlobRules = ({ blobs }: BlockEnv, tx: Transaction, blobGasUsed: bigint): void => {
  if (blobs === undefined) throw new Error('blob transactions are not part of this chain')
  if (!hasBlobVersions(tx)) throw new Error('a blob hash of another version')
  if (blobGasUsed + blobGas(tx) > GAS_PER_BLOB * BigInt(blobs.maxPerBlock)) throw new Error('too many blobs')
}

/**
 * The library's transaction parameters, with the network's flat calldata price (docs/design/evm-rules.md#calldata) and the block's
 * bound on blobs.
 */
const transactionParams = ({ params, blobs }: BlockEnv): ParamsDict => {
  const copy: ParamsDict = structuredClone(paramsTx)
  const replace = (name: string, value: bigint | number): void => {
    for (const entry of Object.values(copy)) if (name in entry) entry[name] = Number(value)
  }
  if (params.calldataGasPerByte !== null) {
    replace('txDataZeroGas', params.calldataGasPerByte)
    replace('txDataNonZeroGas', params.calldataGasPerByte)
  }
  if (blobs !== undefined) replace('maxBlobGasPerBlock', GAS_PER_BLOB * BigInt(blobs.maxPerBlock))
  return copy
}

const cappedLimit = (env: BlockEnv, tx: Transaction): bigint =>
  tx.gasLimit < env.params.maxTxExecutionGas ? tx.gasLimit : env.params.maxTxExecutionGas

/**
 * Returns the library's transaction, its sender recovered from the signature, its gas limit reduced to the usable part
 * (docs/design/evm-rules.md#limits).
 */
const oracleTransaction = (tx: Transaction, env: BlockEnv, common: Common): TypedTransaction => {
  const options = { common, params: transactionParams(env), freeze: false }
  const impersonated = impersonatedSenderOn(env.params, tx)
  const decoded = impersonated ? unsignedLibraryTransaction(tx, options) : createTxFromRLP(tx.raw, options)
  const sender = impersonated ? new Address(hexToBytes(impersonated)) : decoded.getSenderAddress()
  if (sender.toString() !== tx.from) throw new Error(`sender ${sender.toString()} is not ${tx.from}`)
  return Object.assign(decoded, { gasLimit: cappedLimit(env, tx), getSenderAddress: () => sender })
}

const runOne = async (
  vm: VM,
  block: EthereumJsBlock,
  journal: Journal,
  env: BlockEnv,
  tx: Transaction,
  gasUsedBefore: bigint,
): Promise<Receipt> => {
  const libraryTx = oracleTransaction(tx, env, vm.common)
  const price = effectiveGasPrice(tx, vm.common.isActivatedEIP(1559) ? env.baseFeePerGas : 0n)
  // The unusable part of the limit is paid too: code can see the balance.
  const withheld = (tx.gasLimit - libraryTx.gasLimit) * price
  if (withheld > 0n) journal.subBalance(tx.from, withheld)
  if (impersonatedSenderOn(env.params, tx) !== undefined)
    hideCodeOnce(vm.stateManager as EthereumJsStateAdapter, tx.from)
  const result = await runTx(vm, { tx: libraryTx, block, blockGasUsed: gasUsedBefore })
  if (withheld > 0n) journal.addBalance(tx.from, withheld)
  assert(result.amountSpent === result.totalGasSpent * price, 'both price a unit of gas alike')
  takeBackTip(journal, env, result)
  journal.endTransaction()
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
    logs: receipt.logs.map(([address, topics, data]) => ({
      address: bytesToHex(address),
      topics: topics.map(bytesToHex),
      data,
    })),
    ...(blobGasUsed !== undefined && { blobGasUsed, blobGasPrice: env.blobs?.baseFeePerGas ?? 0n }),
  }
}

const contractAddress = (tx: Transaction, { createdAddress }: RunTxResult): Hex | null => {
  if (tx.to !== null) return null
  return createdAddress === undefined ? createAddress(tx.from, tx.nonce) : bytesToHex(createdAddress.bytes)
}
