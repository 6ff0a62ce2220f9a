import type { Cancellation } from '@tandem/base/async/cancellation.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { ChainBlock } from '../../../chain/store/types.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { keccak256Hex } from '../../../crypto/hash.ts'
import { parseQuantity, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { INTEGER_SCHEMA } from '../../codecs/schemas.ts'
import { notIncluded, notReady, replaced } from '../../errors.ts'
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
    cancelledBy(cancellation, () => resolve('late')),
  ]
  look(() => {})
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    for (const stop of stops) stop()
  }
}

const cancelledBy = (cancellation: Cancellation | undefined, listener: () => void): (() => void) =>
  cancellation?.onCancel(listener) ?? (() => {})

/** Submits a transaction and returns its hash, also for one that the pool has or that is in a block: a client that asks again wants its receipt. */
export const submitAgain = async ({ pool, view }: Context, raw: Uint8Array): Promise<Hex> => {
  try {
    return await pool.submit(raw)
  } catch (error) {
    if (!isCoded(error) || (error.code !== 'ALREADY_KNOWN' && error.code !== 'NONCE_TOO_LOW')) throw error
    const hash = keccak256Hex(raw)
    if (error.code === 'NONCE_TOO_LOW' && (await view.locate(hash)) === undefined) throw error
    return hash
  }
}

/**
 * Returns the final receipt of a submitted transaction. Throws code 5 for one behind a gap of nonces, 4 for one that is replaced or dropped,
 * and after the time.
 */
export const receiptOf = async (context: Context, hash: Hex, ms: number): Promise<RawJson | StreamedJson> => {
  const { pool, responseCache } = context
  const waiting = pool.get(hash)
  const next = waiting && pool.nextNonce(waiting.from)
  if (waiting !== undefined && next !== undefined && waiting.nonce >= next) throw notReady(hash, next)
  const fate = await fateOf(context, hash, ms)
  const receipt = fate === 'included' ? await responseCache.receipt(hash) : undefined
  if (receipt === undefined) throw fate === 'gone' ? replaced(hash) : notIncluded(hash, ms)
  return receipt
}
