import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { ACCOUNT_SUMS, emptyTotals, type IndexTotals, totalsOf } from '../index-totals.ts'
import { mergeTotals } from '../merge-totals.ts'
import type { BlockRecord, IndexPosition } from '../records.ts'
import { type AccountLengths, addSkipPointers } from './skip-pointers.ts'
import { numberColumn, type SqlRow, type SqlWrites } from './sql-database.ts'
import { together } from './together.ts'
import { insertBlocks } from './write-blocks.ts'
import { addTotals, type RowsBefore, rowsByAddress, storedCounters } from './write-totals.ts'

const NO_BLOCKS = emptyTotals()

/**
 * Blocks of one transaction. The rows of a batch are written when it comes, the running sums once, at the end: an address that many batches
 * name costs as much as one that a single batch names.
 */
export class IndexBatch {
  readonly #writes: SqlWrites
  readonly #before: RowsBefore
  #totals: IndexTotals | undefined
  #position: Pick<IndexPosition, 'number'> & Partial<IndexPosition>

  private constructor(writes: SqlWrites, counters: ReadonlyMap<string, number>, position: number) {
    this.#writes = writes
    this.#before = { counters, accounts: new Map(), tokens: new Map() }
    this.#position = { number: position }
  }

  /** `position`: number of the last block, read in the same transaction. */
  static async begin(writes: SqlWrites, position: number): Promise<IndexBatch> {
    return new IndexBatch(writes, await storedCounters(writes), position)
  }

  async add(records: readonly BlockRecord[]): Promise<void> {
    const [first] = records
    const last = records.at(-1)
    if (first === undefined || last === undefined) return
    assert(first.number === this.#position.number + 1, 'blocks follow the position of the index')
    this.#position = last
    await together(insertBlocks(this.#writes, records), this.#count(records))
  }

  /** Returns the new position; undefined when no block was added. */
  async end(): Promise<IndexPosition | undefined> {
    const { hash, number } = this.#position
    if (this.#totals === undefined || hash === undefined) return undefined
    await addTotals(this.#writes, this.#totals, this.#before)
    return { number, hash }
  }

  async #count(records: readonly BlockRecord[]): Promise<void> {
    const totals = totalsOf(records)
    const { accounts, tokens } = this.#before
    await together(this.#read('account', totals.accounts, accounts), this.#read('token', totals.tokens, tokens))
    await addSkipPointers(this.#writes, records, totals, {
      counter: (name, sum) => (this.#before.counters.get(name) ?? 0) + sum(this.#totals ?? NO_BLOCKS),
      account: address => this.#accountCounts(address),
      token: address => {
        const row = tokens.get(address)
        return (row ? numberColumn(row, 'transfers') : 0) + (this.#totals?.tokens.get(address)?.transfers ?? 0)
      },
    })
    if (this.#totals === undefined) this.#totals = totals
    else mergeTotals(this.#totals, totals)
  }

  /** Reads the rows of addresses that no batch has named before. */
  async #read(
    table: 'account' | 'token',
    named: ReadonlyMap<Hex, unknown>,
    known: Map<Hex, SqlRow | undefined>,
  ): Promise<void> {
    const unknown = [...named.keys()].filter(address => !known.has(address))
    const found = await rowsByAddress(this.#writes, table, unknown)
    for (const address of unknown) known.set(address, found.get(address))
  }

  #accountCounts(address: Hex): AccountLengths {
    const row = this.#before.accounts.get(address)
    const sums = this.#totals?.accounts.get(address)
    const count = (name: keyof AccountLengths): number => (row ? numberColumn(row, name) : 0) + (sums?.[name] ?? 0)
    return Object.fromEntries(ACCOUNT_SUMS.map(name => [name, count(name)])) as unknown as AccountLengths
  }
}
