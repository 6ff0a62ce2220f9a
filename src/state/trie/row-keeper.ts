import type { Hex } from '@tandem/base/bytes.ts'
import { TRIE_LIMITS } from '../../config/limits/storage.ts'
import type { TrieLayers } from './layers.ts'
import type { TrieMark, TrieRows } from './trie-rows.ts'

/** Position of the base of the layers: a block, or a part of the trie that is being built from the flat tables of one. */
export interface TriePosition {
  readonly number: number
  readonly building?: { readonly root: Hex; readonly next: Uint8Array }
}

/** Blocks after which rows are written, and bytes of nodes that stay in memory. */
export interface RowSizes {
  readonly flushBlocks: number
  readonly cacheBytes: number
}

/**
 * Writes the rows of a trie after some blocks or changes, and drops from its memory what becomes too much. Rows and their mark are one batch,
 * written after the batches of the blocks up to the mark: a start finds the rows of exactly that state, and applies the later blocks again.
 */
export class RowKeeper {
  readonly rows: TrieRows
  readonly #sizes: RowSizes
  #position: TriePosition
  /** Something may differ from the rows. */
  #hasMoved = false
  /** Block of the last flush. */
  #flushed: number
  /** Flush under way: until its end nothing is dropped from memory, since rows would be read that are not there yet. */
  #writing: Promise<void> | undefined
  #failure: unknown

  /** `mark`: that of the rows which are there; undefined: none are. */
  constructor(rows: TrieRows, sizes: RowSizes, mark: TrieMark | undefined) {
    this.rows = rows
    this.#sizes = sizes
    this.#flushed = mark?.number ?? -1
    this.#position = { number: this.#flushed }
  }

  /** Called when the base has moved; a promise only when there is something to wait for. */
  moved(layers: TrieLayers, position: TriePosition): Promise<void> | undefined {
    if (this.#failure !== undefined) throw this.#failure
    this.#position = position
    this.#hasMoved = true
    const { number, building } = position
    const isDue =
      layers.changedBranches > TRIE_LIMITS.flushBranches ||
      (building === undefined && (number >= this.#flushed + this.#sizes.flushBlocks || number < this.#flushed))
    if (!isDue) return this.#trim(layers)
    // A build has nothing to do but this, and more to hold than one flush.
    return building === undefined ? this.#flush(layers) : this.flush(layers)
  }

  /** Resolves when the rows of the base are written. */
  async flush(layers: TrieLayers): Promise<void> {
    if (!this.#hasMoved) return
    await this.#flush(layers)
    await this.#writing
    if (this.#failure !== undefined) throw this.#failure
    this.#trim(layers)
  }

  /** Resolves when the rows are being written. */
  async #flush(layers: TrieLayers): Promise<void> {
    await this.#writing
    if (this.#failure !== undefined) throw this.#failure
    // Here too: where every commit is due, nothing would be dropped otherwise.
    this.#trim(layers)
    const { number, building } = this.#position
    this.#flushed = number
    this.#writing = layers.atBase(() => {
      const { accounts } = layers.stats()
      const root = layers.baseRoot
      const mark = building ? { ...building, number, partRoot: root, accounts } : { number, root, accounts }
      return this.#write(this.rows.write(layers.flush(), mark))
    })
  }

  async #write(written: Promise<void>): Promise<void> {
    try {
      await written
    } catch (error) {
      this.#failure = error
    }
    this.#writing = undefined
  }

  #trim({ trie }: TrieLayers): undefined {
    const { cacheBytes } = this.#sizes
    if (this.#writing === undefined && trie.stats().usedBytes > cacheBytes) trie.trim((cacheBytes / 8) * 7)
  }
}
