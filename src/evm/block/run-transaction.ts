import type { Hex } from '@tandem/base/bytes.ts'
import { nextNonce } from '@tandem/base/uint64.ts'
import { createAddress } from '../../primitives/receipt/address.ts'
import { bloomFromLogs, EMPTY_BLOOM } from '../../primitives/receipt/bloom.ts'
import type { Log } from '../../primitives/receipt/log.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'
import { effectiveGasPrice, type Transaction } from '../../primitives/transaction/transaction.ts'
import { floorGas, intrinsicGas } from '../../rules/intrinsic-gas.ts'
import { type BlobFields, blobGas } from '../../rules/money/blob-fee.ts'
import { executionGasLimit } from '../../rules/transaction.ts'
import { EMPTY_CODE_HASH, MAX_BALANCE } from '../../state/account.ts'
import type { Journal } from '../../state/journal/journal.ts'
import type { BlockEnv } from '../block-env.ts'
import type { Engine, EngineMessage, EngineOptions, EngineResult } from '../engine.ts'
import { applyAuthorizations } from './authorizations.ts'
import type { BlockPosition } from './transaction-validity.ts'

/** Returns true when the result depends on the transaction alone: no code runs, and the recipient has room for the value. */
export const isPlainTransfer = (
  journal: Journal,
  { rules }: BlockPosition,
  { to, type, value }: Transaction,
): boolean =>
  to !== null &&
  type !== 4 &&
  journal.codeHash(to) === EMPTY_CODE_HASH &&
  !rules.precompiles.has(to) &&
  journal.balance(to) + value <= MAX_BALANCE

interface Outcome {
  readonly gasUsed: bigint
  readonly succeeded: boolean
  readonly logs: readonly Log[]
}

const NO_LOGS: readonly Log[] = []

const receiptOf = (
  tx: Transaction,
  at: BlockPosition,
  price: bigint,
  { gasUsed, succeeded, logs }: Outcome,
): Receipt => ({
  type: tx.type,
  status: succeeded ? 1 : 0,
  cumulativeGasUsed: at.gasUsed + gasUsed,
  gasUsed,
  effectiveGasPrice: price,
  contractAddress: tx.to === null ? createAddress(tx.from, tx.nonce) : null,
  logsBloom: logs.length === 0 ? EMPTY_BLOOM : bloomFromLogs(logs),
  logs,
  ...(tx.type === 3 && { blobGasUsed: blobGas(tx), blobGasPrice: at.env.blobs?.baseFeePerGas ?? 0n }),
})

/** Ethereum's coinbase gets its tip with each transaction, so that later ones see it, and loses it when it destroys itself. */
const payTip = (journal: Journal, { env }: BlockPosition, gasUsed: bigint, price: bigint): void => {
  if (env.params.tips === 'coinbase') journal.addBalance(env.miner, gasUsed * (price - env.baseFeePerGas))
}

/** Price of its blobs, wei: burnt completely, whatever the outcome of the message. */
const blobFee = (tx: BlobFields, { blobs }: BlockEnv): bigint =>
  tx.blobVersionedHashes === undefined || blobs === undefined ? 0n : blobGas(tx) * blobs.baseFeePerGas

const finish = (journal: Journal, at: BlockPosition): void => {
  if (at.rules.sweepsEmpty) journal.sweepTouched()
  journal.endTransaction()
}

const priceOf = (tx: Transaction, at: BlockPosition): bigint =>
  effectiveGasPrice(tx, at.rules.hasBaseFee ? at.env.baseFeePerGas : 0n)

export const higher = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** Runs a valid plain transfer. It cannot fail: the balance covers the value and the whole gas limit. */
export const runPlainTransfer = (journal: Journal, at: BlockPosition, tx: Transaction): Receipt => {
  const { intrinsic } = at.rules
  const price = priceOf(tx, at)
  const gasUsed = higher(intrinsicGas(tx, intrinsic), floorGas(tx, intrinsic))
  journal.setBalance(tx.from, journal.balance(tx.from) - tx.value - gasUsed * price - blobFee(tx, at.env))
  journal.setNonce(tx.from, nextNonce(tx.nonce))
  const to = tx.to as Hex
  // Before EIP-161 a transfer of zero creates the account.
  if (tx.value === 0n && at.rules.sweepsEmpty) journal.touch(to)
  else journal.addBalance(to, tx.value)
  payTip(journal, at, gasUsed, price)
  finish(journal, at)
  return receiptOf(tx, at, price, { gasUsed, succeeded: true, logs: NO_LOGS })
}

/** Returns the gas after refunds of the code and of EIP-7702, which are capped. */
export const afterRefunds = (used: bigint, refund: bigint, { refundQuotient }: BlockPosition['rules']): bigint => {
  const cap = used / refundQuotient
  return used - (refund < cap ? refund : cap)
}

/** Largest gas of a message that uses at most `gasLeft` after refunds: with quotient q at least (q - 1)/q of what it executed. */
export const messageGasBound = (tx: Transaction, { rules }: BlockPosition, gasLeft: bigint): bigint => {
  const kept = rules.refundQuotient - 1n
  const most = (gasLeft / kept) * rules.refundQuotient + (gasLeft % kept)
  return higher(most - intrinsicGas(tx, rules.intrinsic), 0n)
}

const messageOf = (tx: Transaction, gas: bigint, gasPrice: bigint, warm: readonly Hex[]): EngineMessage => ({
  from: tx.from,
  to: tx.to,
  value: tx.value,
  data: tx.data,
  gas,
  gasPrice,
  accessList: tx.accessList,
  warm,
  ...(tx.blobVersionedHashes !== undefined && { blobVersionedHashes: tx.blobVersionedHashes }),
})

/** Outcome of a message besides its receipt. */
export interface MessageOutcome {
  readonly receipt: Receipt
  readonly result: EngineResult
  /** Gas before refunds, which the limit had to cover. */
  readonly peakGas: bigint
}

/**
 * Runs a valid transaction whose message needs an engine: buys gas, runs the message, applies refunds, self-destructs and the sweep.
 * When the engine throws (an interrupt) the caller reverts to its own checkpoint. A promise only where the engine returns one.
 */
export const runMessageTransaction = (
  journal: Journal,
  at: BlockPosition,
  tx: Transaction,
  engine: Engine,
  options: EngineOptions,
): MessageOutcome | Promise<MessageOutcome> => {
  const { env, rules } = at
  const price = priceOf(tx, at)
  const intrinsic = intrinsicGas(tx, rules.intrinsic)
  journal.subBalance(tx.from, tx.gasLimit * price + blobFee(tx, env))
  journal.setNonce(tx.from, nextNonce(tx.nonce))
  const authorized = applyAuthorizations(journal, env.params.chainId, tx.authorizationList ?? [])
  const message = messageOf(tx, executionGasLimit(tx, env) - intrinsic, price, authorized.warm)
  const complete = (result: EngineResult): MessageOutcome => {
    const [spent, floor] = [intrinsic + result.gasUsed, floorGas(tx, rules.intrinsic)]
    const peakGas = higher(spent, floor)
    const used = higher(afterRefunds(spent, authorized.refund + result.refund, rules), floor)
    journal.addBalance(tx.from, (tx.gasLimit - used) * price)
    payTip(journal, at, used, price)
    for (const address of result.destroyed) journal.deleteAccount(address)
    finish(journal, at)
    const { failure, logs } = result
    const receipt = receiptOf(tx, at, price, { gasUsed: used, succeeded: failure === null, logs })
    return { receipt, result, peakGas }
  }
  const running = engine.run(journal, env, message, options)
  return running instanceof Promise ? running.then(complete) : complete(running)
}
