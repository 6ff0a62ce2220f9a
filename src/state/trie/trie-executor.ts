import { assert } from '@tandem/base/assert.ts'
import { hexToBytes } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { EMPTY_ROOT } from '../account.ts'
import { TrieLayers } from './layers.ts'
import type { TrieAnswer, TrieArgs, TrieCalls } from './protocol.ts'
import { RowKeeper, type RowSizes } from './row-keeper.ts'
import { DamagedRow, Trie } from './trie.ts'
import type { TrieMark, TrieRows } from './trie-rows.ts'
import type { TrieError } from './types.ts'

type Value = ReturnType<TrieCalls[keyof TrieCalls]>

/** Executes the calls of the trie's service, one at a time: in memory alone, or with rows once they are attached. */
export class TrieExecutor {
  readonly #limit: number
  #layers: TrieLayers
  #keeper: RowKeeper | undefined
  #attached: { readonly rows: TrieRows; readonly sizes: RowSizes } | undefined

  readonly #calls: TrieCalls = {
    begin: at => this.#begin(at),
    load: (batch, position) => {
      this.#layers.load(new Uint8Array(batch))
      return position && this.#keeper?.moved(this.#layers, position)
    },
    apply: (parentRoot, batch) => {
      const { storageRoots } = this.#layers.apply(parentRoot, new Uint8Array(batch))
      return { storageRoots: storageRoots.buffer, rowsRead: this.#layers.trie.takeRowsRead() }
    },
    prefetch: keys => this.#layers.trie.prefetch(new Uint8Array(keys)),
    commit: (root, number) => {
      this.#layers.commit(root)
      return number === undefined ? undefined : this.#keeper?.moved(this.#layers, { number })
    },
    flush: () => this.#keeper?.flush(this.#layers),
    prove: (root, address, slots, batches) => this.#layers.prove(root, address, slots, bytesOf(batches)),
    preview: (root, batches) => this.#layers.preview(root, bytesOf(batches)).buffer,
    stats: () => this.#layers.stats(),
  }

  constructor(limit: number) {
    this.#limit = limit
    this.#layers = new TrieLayers(limit)
  }

  /** Keeps the trie in rows from the next `begin` on. */
  attach(rows: TrieRows, sizes: RowSizes): void {
    this.#attached = { rows, sizes }
  }

  /** Expected failures are returned; any other error is thrown and means that the trie is unusable. */
  execute(name: keyof TrieCalls, args: TrieArgs): TrieAnswer | Promise<TrieAnswer> {
    try {
      if (name !== 'preview' && name !== 'prove') this.#layers.comeBack()
      const value = (this.#calls[name] as (...args: TrieArgs) => Value | Promise<Value>)(...args)
      if (!(value instanceof Promise)) return this.#answer(value)
      return value.then(
        result => this.#answer(result),
        error => this.#failed(error),
      )
    } catch (error) {
      return this.#failed(error)
    }
  }

  #answer(value: Value): TrieAnswer {
    return { root: this.#layers.root, value }
  }

  #failed(error: unknown): TrieAnswer | Promise<TrieAnswer> {
    if (error instanceof DamagedRow) return this.#damaged(error)
    if (!(error instanceof CodedError)) throw error
    return { root: this.#layers.root, error: (error as CodedError<TrieError>).detail }
  }

  async #damaged(error: DamagedRow): Promise<never> {
    await this.#attached?.rows.forget()
    throw error
  }

  /** Starts over with the rows that are there, or with none. */
  async #begin(at: TrieMark | undefined): Promise<void> {
    if (this.#attached === undefined) {
      assert(at === undefined, 'without rows a trie begins empty')
      this.#layers = new TrieLayers(this.#limit)
      return
    }
    const { rows, sizes } = this.#attached
    if (at === undefined) await rows.clear()
    const isEmpty = at === undefined || at.root === EMPTY_ROOT
    const trie = new Trie(rows, isEmpty ? undefined : { root: hexToBytes(at.root), accounts: at.accounts })
    this.#layers = new TrieLayers(this.#limit, trie, at?.root)
    this.#keeper = new RowKeeper(rows, sizes, at)
  }
}

const bytesOf = (batches: readonly ArrayBuffer[]) => batches.map(batch => new Uint8Array(batch))
