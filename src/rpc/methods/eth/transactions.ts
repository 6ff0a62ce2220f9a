import { andThen, type MaybePromise } from '@tandem/base/async/maybe-promise.ts'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import type { ChainBlock } from '../../../chain/store/types.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { keccak256Hex } from '../../../crypto/hash.ts'
import { blockNumber } from '../../codecs/block.ts'
import { DATA_SCHEMA, data, HASH_SCHEMA, hash, index, parseQuantity, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { INTEGER_SCHEMA, listOf, orNull, RECEIPT_SCHEMA, TRANSACTION_SCHEMA } from '../../codecs/schemas.ts'
import { transactionJson } from '../../encode/transaction.ts'
import { notIncluded, notReady, replaced } from '../../errors.ts'
import type { BlockRef } from '../../router/block-reads.ts'
import type { Context } from '../../router/context.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { type Codec, codec, optional } from '../../router/method-description.ts'
import { NULL_JSON, RawJson, type StreamedJson } from '../../router/raw-json.ts'
import { blockOrPending } from './blocks.ts'
import { hashUnlessReverted } from './thrown-reverts.ts'

/** Milliseconds, as number or QUANTITY. What is no time within the limits counts as left out (EIP-7966). */
const timeoutMs: Codec<number> = codec('timeout', { anyOf: [INTEGER_SCHEMA, QUANTITY_SCHEMA] }, value => {
  const asked = typeof value === 'number' ? value : Number(parseQuantity(value))
  const { defaultMs, maxMs } = RPC_LIMITS.receiptWait
  return Number.isInteger(asked) && asked > 0 && asked <= maxMs ? asked : defaultMs
})

/** Hashes of a block's transactions, for all that wait for one. */
const hashes = new WeakMap<ChainBlock, ReadonlySet<Hex>>()

const includes = (block: ChainBlock, hash: Hex): boolean =>
  getOrMake(hashes, block, () => new Set(block.transactions.map(transaction => transaction.hash))).has(hash)

type Fate = 'included' | 'gone' | 'late'

/** Resolves when a transaction is in a block, or has left the pool without; with `late` after the time, or when nobody waits any more. */
const fateOf = async ({ view, pool, cancellation }: Context, hash: Hex, ms: number): Promise<Fate> => {
  const { promise, resolve, reject } = Promise.withResolvers<Fate>()
  const timer = setTimeout(resolve, ms, 'late')
  // It may have come before the listener, but not before the blocks that a snapshot has left out.
  const look = (otherwise: () => void): void => {
    view.locate(hash).then(
      place => (place === undefined ? otherwise() : resolve('included')),
      error => {
        if (!isCoded(error) || error.code !== 'HISTORY_MISSING') reject(error)
      },
    )
  }
  const stops = [
    view.onCommitted(({ block }) => {
      if (includes(block, hash)) resolve('included')
      else if (pool.get(hash) === undefined) look(() => resolve('gone'))
    }),
    cancellation?.onCancel(() => resolve('late')) ?? (() => {}),
  ]
  look(() => {})
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    for (const stop of stops) stop()
  }
}

/** Submits a transaction and returns its hash, also for one that the pool has or that is in a block: a client that asks again wants its receipt. */
const submitAgain = async ({ pool, view }: Context, raw: Uint8Array): Promise<Hex> => {
  try {
    return await pool.submit(raw)
  } catch (error) {
    if (!isCoded(error) || (error.code !== 'ALREADY_KNOWN' && error.code !== 'NONCE_TOO_LOW')) throw error
    const hash = keccak256Hex(raw)
    if (error.code === 'NONCE_TOO_LOW' && (await view.locate(hash)) === undefined) throw error
    return hash
  }
}

/** Returns the final receipt of a submitted transaction. Throws 5 behind a gap of nonces, 4 if replaced, dropped or late. */
const receiptOf = async (context: Context, hash: Hex, ms: number): Promise<RawJson | StreamedJson> => {
  const { pool, responseCache } = context
  const waiting = pool.get(hash)
  const next = waiting && pool.nextNonce(waiting.from)
  if (waiting !== undefined && next !== undefined && waiting.nonce >= next) throw notReady(hash, next)
  const fate = await fateOf(context, hash, ms)
  const receipt = fate === 'included' ? await responseCache.receipt(hash) : undefined
  if (receipt === undefined) throw fate === 'gone' ? replaced(hash) : notIncluded(hash, ms)
  return receipt
}

/**
 * Looks in the pool first, where blockHash, blockNumber and transactionIndex are null (docs/interface.md#transaction-states), then in the
 * blocks. In this order, since a transaction leaves the pool only after its block is stored: it is never unknown in between.
 */
const transactionByHash = ({ responseCache, pool }: Context, id: Hex): MaybePromise<RawJson> => {
  const waiting = pool.get(id)
  if (waiting !== undefined) return new RawJson(transactionJson(waiting, null))
  return andThen(responseCache.transaction(id), found => found ?? NULL_JSON)
}

const transactionAt = method({
  summary: 'A transaction by its place in a block',
  params: [blockNumber, index],
  result: orNull(TRANSACTION_SCHEMA),
  handler: (context, ref: BlockRef, at) =>
    andThen(blockOrPending(context, ref), found => {
      const transaction = found?.transactions[at]
      if (found === undefined || transaction === undefined) return NULL_JSON
      if (ref === 'pending') return new RawJson(transactionJson(transaction, null))
      return context.responseCache.transactionAt(found, at) ?? NULL_JSON
    }),
})

const rawAt = method({
  summary: 'A transaction as it was signed, by its place in a block',
  params: [blockNumber, index],
  result: orNull(DATA_SCHEMA),
  handler: (context, ref: BlockRef, at) =>
    andThen(blockOrPending(context, ref), found => {
      const transaction = found?.transactions[at]
      return transaction === undefined ? null : bytesToHex(transaction.raw)
    }),
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
  eth_getTransactionByBlockNumberAndIndex: transactionAt,
  eth_getTransactionByBlockHashAndIndex: { ...transactionAt, params: [hash, index] },
  eth_getRawTransactionByHash: method({
    summary: 'A transaction as it was signed',
    params: [hash],
    result: orNull(DATA_SCHEMA),
    handler: rawByHash,
  }),
  eth_getRawTransactionByBlockNumberAndIndex: rawAt,
  eth_getRawTransactionByBlockHashAndIndex: { ...rawAt, params: [hash, index] },
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
    handler: (context, raw) => context.pool.submit(raw).then(sent => hashUnlessReverted(context, sent)),
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
      receiptOf(context, await hashUnlessReverted(context, await submitAgain(context, raw)), ms),
  }),
  eth_pendingTransactions: method({
    summary: "Transactions of the node's own accounts that wait in the pool",
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
