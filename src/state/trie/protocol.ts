import type { Hex } from '@tandem/base/bytes.ts'
import type { StoreHandle } from '../../storage/store.ts'
import type { RowSizes, TriePosition } from './row-keeper.ts'
import type { TrieMark } from './trie-rows.ts'
import type { StateProof, TrieError, TrieStats } from './types.ts'

/** Calls of the trie's thread. Buffers are transferred. */
export type TrieCalls = {
  /** Starts over with the rows of a mark, or without any. */
  readonly begin: (at: TrieMark | undefined) => void
  readonly load: (batch: ArrayBuffer, position: TriePosition | undefined) => void
  /** `rowsRead`: since the last one, for it and by prefetches. */
  readonly apply: (
    parentRoot: Hex,
    batch: ArrayBuffer,
  ) => { readonly storageRoots: ArrayBuffer; readonly rowsRead: number }
  /** Hashed accounts that a block under way has read, one after the other. */
  readonly prefetch: (keys: ArrayBuffer) => void
  /** `number`: the block, where rows are kept. */
  readonly commit: (root: Hex, number: number | undefined) => void
  /** Writes the rows of the base. */
  readonly flush: () => void
  readonly prove: (root: Hex, address: Hex, slots: readonly Hex[], batches: readonly ArrayBuffer[]) => StateProof
  /** Returns the roots, one after the other. */
  readonly preview: (root: Hex, batches: readonly ArrayBuffer[]) => ArrayBuffer
  readonly stats: () => TrieStats
}

export type TrieArgs<Name extends keyof TrieCalls = keyof TrieCalls> = Parameters<TrieCalls[Name]>
type TrieValue<Name extends keyof TrieCalls> = ReturnType<TrieCalls[Name]>

/** `root` is the position of the trie after the call. */
export type TrieAnswer<Name extends keyof TrieCalls = keyof TrieCalls> =
  | { readonly root: Hex; readonly value: TrieValue<Name>; readonly error?: undefined }
  | { readonly root: Hex; readonly error: TrieError }

/** Methods of the trie's worker. */
export type TrieMethods = {
  readonly attach: (store: StoreHandle, sizes: RowSizes) => void
  readonly execute: (name: keyof TrieCalls, args: TrieArgs) => TrieAnswer
  /** Closes the store of `attach`. */
  readonly close: () => void
}
