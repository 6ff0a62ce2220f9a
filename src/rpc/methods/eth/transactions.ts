import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { blockNumber } from '../../codecs/block.ts'
import { DATA_SCHEMA, data, HASH_SCHEMA, hash, index } from '../../codecs/scalars.ts'
import { listOf, orNull, RECEIPT_SCHEMA, TRANSACTION_SCHEMA } from '../../codecs/schemas.ts'
import { transactionJson } from '../../encode/transaction.ts'
import { andThen, type BlockRef, type MaybePromise } from '../../router/block-reads.ts'
import type { Context } from '../../router/context.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { optional } from '../../router/method-description.ts'
import { NULL_JSON, RawJson } from '../../router/raw-json.ts'
import { blockOrPending } from './blocks.ts'
import { receiptOf, submitAgain, timeoutMs } from './receipt-wait.ts'
import { answerSent } from './thrown-reverts.ts'

/**
 * Looks in the pool first, where blockHash, blockNumber and transactionIndex are null
 * (docs/interface.md#transaction-states), then in the blocks. In this order, since a transaction leaves the pool only
 * after its block is stored: it is never unknown in between.
 */
const transactionByHash = ({ responseCache, pool }: Context, id: Hex): MaybePromise<RawJson> => {
  const waiting = pool.get(id)
  if (waiting !== undefined) return new RawJson(transactionJson(waiting, null))
  return andThen(responseCache.transaction(id), found => found ?? NULL_JSON)
}

const transactionAt = (context: Context, ref: BlockRef, at: number): MaybePromise<RawJson> =>
  andThen(blockOrPending(context, ref), found => {
    const transaction = found?.transactions[at]
    if (found === undefined || transaction === undefined) return NULL_JSON
    if (ref === 'pending') return new RawJson(transactionJson(transaction, null))
    return context.responseCache.transactionAt(found, at) ?? NULL_JSON
  })

const rawAt = (context: Context, ref: BlockRef, at: number): MaybePromise<Hex | null> =>
  andThen(blockOrPending(context, ref), found => {
    const transaction = found?.transactions[at]
    return transaction === undefined ? null : bytesToHex(transaction.raw)
  })

const rawByHash = async ({ view, pool }: Context, id: Hex): Promise<Hex | null> => {
  const waiting = pool.get(id)
  if (waiting !== undefined) return bytesToHex(waiting.raw)
  const placed = await view.transaction(id)
  return placed === undefined ? null : bytesToHex(placed.transaction.raw)
}

export const ethTransactions = {
  eth_getTransactionByHash: method({
    summary: 'A transaction, also while it is pending',
    params: [hash],
    result: orNull(TRANSACTION_SCHEMA),
    handler: transactionByHash,
  }),
  eth_getTransactionByBlockNumberAndIndex: method({
    summary: 'A transaction by its place in a block',
    params: [blockNumber, index],
    result: orNull(TRANSACTION_SCHEMA),
    handler: transactionAt,
  }),
  eth_getTransactionByBlockHashAndIndex: method({
    summary: 'A transaction by its place in a block',
    params: [hash, index],
    result: orNull(TRANSACTION_SCHEMA),
    handler: transactionAt,
  }),
  eth_getRawTransactionByHash: method({
    summary: 'A transaction as it was signed',
    params: [hash],
    result: orNull(DATA_SCHEMA),
    handler: rawByHash,
  }),
  eth_getRawTransactionByBlockNumberAndIndex: method({
    summary: 'A transaction as it was signed, by its place in a block',
    params: [blockNumber, index],
    result: orNull(DATA_SCHEMA),
    handler: rawAt,
  }),
  eth_getRawTransactionByBlockHashAndIndex: method({
    summary: 'A transaction as it was signed, by its place in a block',
    params: [hash, index],
    result: orNull(DATA_SCHEMA),
    handler: rawAt,
  }),
  eth_getTransactionReceipt: method({
    summary: 'The receipt of a transaction in a block; null while it is pending',
    params: [hash],
    result: orNull(RECEIPT_SCHEMA),
    handler: ({ responseCache, pool }, id) => {
      if (pool.get(id) !== undefined) return NULL_JSON
      return andThen(responseCache.receipt(id), found => found ?? NULL_JSON)
    },
  }),
  eth_sendRawTransaction: method({
    effect: 'submission',
    summary: 'Submits a signed transaction',
    params: [data],
    result: HASH_SCHEMA,
    weight: 2,
    handler: (context, raw) => context.pool.submit(raw).then(sent => answerSent(context, sent)),
  }),
  eth_sendRawTransactionSync: method({
    effect: 'submission',
    summary: 'Submits a signed transaction and waits for its receipt, which is final (EIP-7966)',
    params: [data, optional(timeoutMs)],
    result: RECEIPT_SCHEMA,
    notes: `The time is in milliseconds: ${RPC_LIMITS.receiptWait.defaultMs} by default, at most ${RPC_LIMITS.receiptWait.maxMs}. Error 4: in no block in time, or replaced. Error 5: a nonce before it is missing. Both have the hash as data. Again: the same receipt.`,
    weight: 2,
    slot: { limits: RPC_LIMITS.receiptWaits, what: 'transactions' },
    handler: async (context, raw, ms = RPC_LIMITS.receiptWait.defaultMs) =>
      receiptOf(context, await answerSent(context, await submitAgain(context, raw)), ms),
  }),
  eth_pendingTransactions: method({
    summary: "Transactions of the node's own accounts that wait in the pool",
    params: [],
    result: listOf(TRANSACTION_SCHEMA),
    handler: ({ pool, wallet }) => {
      const own = wallet.accounts()
      if (own.length === 0) return []
      const { pending } = pool.content()
      const waiting = own.flatMap(account => pending.get(account) ?? [])
      return new RawJson(`[${waiting.map(transaction => transactionJson(transaction, null)).join(',')}]`)
    },
  }),
} satisfies MethodTable
