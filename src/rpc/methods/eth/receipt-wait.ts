import type { Cancellation } from '@tandem/base/async/cancellation.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { ChainBlock } from '../../../chain/store/types.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { parseQuantity, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { INTEGER_SCHEMA } from '../../codecs/schemas.ts'
import { notIncluded, notReady } from '../../errors.ts'
import type { Context } from '../../router/context.ts'
import { type Codec, codec } from '../../router/method-description.ts'
import type { RawJson, StreamedJson } from '../../router/raw-json.ts'

/** Milliseconds, as number or QUANTITY. What is no time within the limits counts as left out (EIP-7966). */
export const timeoutMs: Codec<number> = codec('timeout', { anyOf: [INTEGER_SCHEMA, QUANTITY_SCHEMA] }, value => {
  const asked = typeof value === 'number' ? value : Number(parseQuantity(value))
  const { defaultMs, maxMs } = RPC_LIMITS.receiptWait
  return Number.isInteger(asked) && asked > 0 && asked <= maxMs ? asked : defaultMs
})

/** Hashes of a block's transactions, for all that wait for one. */
const hashes = new WeakMap<ChainBlock, ReadonlySet<Hex>>()

const includes = (block: ChainBlock, hash: Hex): boolean => {
  const known = hashes.get(block) ?? new Set(block.transactions.map(transaction => transaction.hash))
  hashes.set(block, known)
  return known.has(hash)
}

/** Resolves with true when a transaction is in a block; with false after the time, or when nobody waits any more. */
const includedWithin = async ({ view, cancellation }: Context, hash: Hex, ms: number): Promise<boolean> => {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, ms, false)
  const stops = [
    view.onCommitted(({ block }) => {
      if (includes(block, hash)) resolve(true)
    }),
    cancelledBy(cancellation, () => resolve(false)),
  ]
  // It may have come before the listener, but not before the blocks that a snapshot has left out.
  view.locate(hash).then(
    place => {
      if (place !== undefined) resolve(true)
    },
    error => {
      if (!isCoded(error) || error.code !== 'HISTORY_MISSING') reject(error)
    },
  )
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    for (const stop of stops) stop()
  }
}

const cancelledBy = (cancellation: Cancellation | undefined, listener: () => void): (() => void) =>
  cancellation?.onCancel(listener) ?? (() => {})

/** Returns the final receipt of a submitted transaction. Throws code 5 for one behind a gap of nonces, 4 after the time. */
export const receiptOf = async (context: Context, hash: Hex, ms: number): Promise<RawJson | StreamedJson> => {
  const { pool, responseCache } = context
  const waiting = pool.get(hash)
  const next = waiting && pool.nextNonce(waiting.from)
  if (waiting !== undefined && next !== undefined && waiting.nonce >= next) throw notReady(hash, next)
  const receipt = (await includedWithin(context, hash, ms)) ? await responseCache.receipt(hash) : undefined
  if (receipt === undefined) throw notIncluded(hash, ms)
  return receipt
}
