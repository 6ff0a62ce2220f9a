import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { StoreHandle } from '../../storage/store.ts'
import type { RowSizes, TriePosition } from './row-keeper.ts'
import type { TrieMark } from './trie-rows.ts'
import type { TrieError, TrieProof, TrieStats } from './types.ts'

/** Request to the trie's thread. Buffers are transferred. */
export type TrieCall =
  /** Starts over with the rows of a mark, or without any. */
  | { readonly op: 'begin'; readonly at: TrieMark | undefined }
  | { readonly op: 'load'; readonly batch: ArrayBuffer; readonly position: TriePosition | undefined }
  | { readonly op: 'apply'; readonly parentRoot: Hex; readonly batch: ArrayBuffer }
  /** Hashed accounts that a block under way has read, one after the other. */
  | { readonly op: 'prefetch'; readonly keys: ArrayBuffer }
  /** `number`: the block, where rows are kept. */
  | { readonly op: 'commit'; readonly root: Hex; readonly number: number | undefined }
  /** Writes the rows of the base. */
  | { readonly op: 'flush' }
  | {
      readonly op: 'prove'
      readonly root: Hex
      readonly address: Hex
      readonly slots: readonly Hex[]
      readonly batches: readonly ArrayBuffer[]
    }
  | { readonly op: 'preview'; readonly root: Hex; readonly batches: readonly ArrayBuffer[] }
  | { readonly op: 'stats' }

export type TrieValue =
  | { readonly op: 'root' }
  /** `rowsRead`: since the last one, for it and by prefetches. */
  | { readonly op: 'apply'; readonly storageRoots: ArrayBuffer; readonly rowsRead: number }
  | { readonly op: 'prove'; readonly proof: TrieProof }
  | { readonly op: 'preview'; readonly roots: ArrayBuffer }
  | { readonly op: 'stats'; readonly stats: TrieStats }

/** `root` is the position of the trie after the call. */
export type TrieAnswer =
  | { readonly root: Hex; readonly value: TrieValue; readonly error?: undefined }
  | { readonly root: Hex; readonly error: TrieError }

/** Methods of the trie's worker. */
export type TrieMethods = {
  readonly attach: (store: StoreHandle, sizes: RowSizes) => void
  readonly execute: (call: TrieCall) => TrieAnswer
  /** Closes the store of `attach`. */
  readonly close: () => void
}

export const transferableBuffers = (call: TrieCall): ArrayBuffer[] => {
  if (call.op === 'load' || call.op === 'apply') return [call.batch]
  if (call.op === 'prefetch') return [call.keys]
  return call.op === 'prove' || call.op === 'preview' ? [...call.batches] : []
}

/** Returns the value of a response as the expected kind. */
export const expectTrieValue = <Op extends TrieValue['op']>(
  value: TrieValue,
  op: Op,
): Extract<TrieValue, { op: Op }> => {
  assert(value.op === op, `the trie returns ${op}`)
  return value as Extract<TrieValue, { op: Op }>
}
