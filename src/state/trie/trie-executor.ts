import { assert } from '@tandem/base/assert.ts'
import { hexToBytes } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { EMPTY_ROOT } from '../account.ts'
import { TrieLayers } from './layers.ts'
import type { TrieAnswer, TrieCall, TrieValue } from './protocol.ts'
import { RowKeeper, type RowSizes } from './row-keeper.ts'
import { DamagedRow, Trie } from './trie.ts'
import type { TrieMark, TrieRows } from './trie-rows.ts'
import type { TrieError } from './types.ts'

/** Executes the calls of the trie's service, one at a time: in memory alone, or with rows once they are attached. */
export class TrieExecutor {
  readonly #limit: number
  #layers: TrieLayers
  #keeper: RowKeeper | undefined
  #attached: { readonly rows: TrieRows; readonly sizes: RowSizes } | undefined

  constructor(limit: number) {
    this.#limit = limit
    this.#layers = new TrieLayers(limit)
  }

  /** Keeps the trie in rows from the next `begin` on. */
  attach(rows: TrieRows, sizes: RowSizes): void {
    this.#attached = { rows, sizes }
  }

  /** Expected failures are returned; any other error is thrown and means that the trie is unusable. */
  execute(call: TrieCall): TrieAnswer | Promise<TrieAnswer> {
    try {
      const value = this.#run(call)
      if (!(value instanceof Promise)) return this.#answer(value)
      return value.then(
        result => this.#answer(result),
        error => this.#failed(error),
      )
    } catch (error) {
      return this.#failed(error)
    }
  }

  #answer(value: TrieValue): TrieAnswer {
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

  #run(call: TrieCall): TrieValue | Promise<TrieValue> {
    const layers = this.#layers
    if (call.op !== 'preview' && call.op !== 'prove') layers.comeBack()
    switch (call.op) {
      case 'begin':
        return this.#begin(call.at)
      case 'load': {
        layers.load(new Uint8Array(call.batch))
        return after(call.position && this.#keeper?.moved(layers, call.position), { op: 'root' })
      }
      case 'apply': {
        const { storageRoots } = layers.apply(call.parentRoot, new Uint8Array(call.batch))
        return { op: 'apply', storageRoots: storageRoots.buffer, rowsRead: layers.trie.takeRowsRead() }
      }
      case 'prefetch':
        layers.trie.prefetch(new Uint8Array(call.keys))
        return { op: 'root' }
      case 'commit':
        layers.commit(call.root)
        return after(call.number === undefined ? undefined : this.#keeper?.moved(layers, { number: call.number }), {
          op: 'root',
        })
      case 'flush':
        return after(this.#keeper?.flush(layers), { op: 'root' })
      case 'prove':
        return { op: 'prove', proof: layers.prove(call.root, call.address, call.slots, bytesOf(call.batches)) }
      case 'preview':
        return { op: 'preview', roots: layers.preview(call.root, bytesOf(call.batches)).buffer }
      case 'stats':
        return { op: 'stats', stats: layers.stats() }
    }
  }

  /** Starts over with the rows that are there, or with none. */
  async #begin(at: TrieMark | undefined): Promise<TrieValue> {
    if (this.#attached === undefined) {
      assert(at === undefined, 'without rows a trie begins empty')
      this.#layers = new TrieLayers(this.#limit)
      return { op: 'root' }
    }
    const { rows, sizes } = this.#attached
    if (at === undefined) await rows.clear()
    const isEmpty = at === undefined || at.root === EMPTY_ROOT
    const trie = new Trie(rows, isEmpty ? undefined : { root: hexToBytes(at.root), accounts: at.accounts })
    this.#layers = new TrieLayers(this.#limit, trie, at?.root)
    this.#keeper = new RowKeeper(rows, sizes, at)
    return { op: 'root' }
  }
}

const bytesOf = (batches: readonly ArrayBuffer[]) => batches.map(batch => new Uint8Array(batch))

const after = <T>(work: Promise<void> | undefined, value: T): T | Promise<T> =>
  work === undefined ? value : work.then(() => value)
