import { andThen, type MaybePromise } from '@tandem/base/async/maybe-promise.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Uint64 } from '@tandem/base/uint64.ts'
import type { ChainBlock, ChainView } from '../../chain/store/types.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import type { AsyncStateReader, StateReader } from '../../state/state-reader.ts'
import { headerNotFound, invalidParams, serverError } from '../errors.ts'

/** A block by number or by tag (docs/interface.md#block-parameter). `safe` and `finalized` are refused like any string without 0x. */
export type BlockNumberRef = Uint64 | 'latest' | 'pending' | 'earliest'
/** A block by number, tag or hash (EIP-1898); the 0x prefix distinguishes a hash from a tag. */
export type BlockRef = BlockNumberRef | Hex

export const isHash = (ref: BlockRef): ref is Hex => typeof ref === 'string' && ref.length === 66

/** Returns the number that a reference names; the head's for `latest` and `pending`. */
export const namedNumber = (ref: BlockNumberRef, head: number): Uint64 => {
  if (ref === 'earliest') return 0
  return typeof ref === 'string' ? head : ref
}

/** Returns the number of a committed block; throws when it is unknown. The caller must have handled `pending`. */
export const blockNumberOf = (view: ChainView, ref: BlockRef): MaybePromise<number> => {
  const head = view.head()
  if (ref === 'latest' || ref === 'pending') return head.header.number
  if (ref === 'earliest') return 0
  if (typeof ref !== 'string') {
    if (typeof ref === 'bigint' || ref > head.header.number) throw headerNotFound(ref)
    return ref
  }
  if (ref === head.hash) return head.header.number
  return view.blockByHash(ref as Hex).then(block => {
    if (block === undefined) throw serverError('header for hash not found')
    return block.header.number
  })
}

/** Returns a committed block, the head for `pending`; throws when there is none. */
export const existingBlock = async (view: ChainView, ref: BlockRef): Promise<ChainBlock> => {
  const number = await blockNumberOf(view, ref)
  const found = await view.blockByNumber(number)
  if (found === undefined) throw serverError(`block #${number} not found`)
  return found
}

/** Returns a committed block or undefined; the caller handles `pending`. */
export const findBlock = (view: ChainView, ref: BlockRef): MaybePromise<ChainBlock | undefined> => {
  const head = view.head()
  if (ref === 'latest' || ref === head.hash || ref === head.header.number) return head
  if (ref === 'earliest') return view.blockByNumber(0)
  if (typeof ref === 'bigint') return undefined
  return typeof ref === 'number' ? view.blockByNumber(ref) : view.blockByHash(ref as Hex)
}

/** Returns the ends of a range of committed blocks, included. Its length is checked first, then the head. */
export const committedRange = async (
  view: ChainView,
  from: BlockNumberRef,
  to: BlockNumberRef,
): Promise<{ readonly first: number; readonly last: number }> => {
  const head = view.head().header.number
  const length = BigInt(namedNumber(to, head)) - BigInt(namedNumber(from, head)) + 1n
  if (length > RPC_LIMITS.blockRange)
    throw invalidParams(`block range too large: at most ${RPC_LIMITS.blockRange} blocks`)
  if (from === 'pending' || to === 'pending') throw serverError('pending is not allowed')
  const first = await blockNumberOf(view, from)
  const last = await blockNumberOf(view, to)
  if (first > last) throw invalidParams('invalid block range: from is after to')
  return { first, last }
}

/** Reads the state after a block: synchronously at the head, else by promise. */
export const readState = <T>(
  view: ChainView,
  ref: BlockRef,
  read: (state: StateReader | AsyncStateReader) => MaybePromise<T>,
): MaybePromise<T> => {
  if (ref === 'latest') return read(view.headState)
  if (ref === 'pending') return view.pending().then(({ state }) => read(state))
  return andThen(blockNumberOf(view, ref), number =>
    number === view.head().header.number ? read(view.headState) : readOld(view, number, read),
  )
}

const readOld = async <T>(
  view: ChainView,
  number: number,
  read: (state: AsyncStateReader) => MaybePromise<T>,
): Promise<T> => {
  const state = await view.stateAt(number)
  try {
    return await read(state)
  } finally {
    state.release()
  }
}
