import { assert } from '../../../util/assert.ts'
import type { Hex } from '../../../util/bytes.ts'
import type { AddressLabel, IndexStore } from '../index-store.ts'
import { totalsOf } from '../index-totals.ts'
import { type BlockRecord, TOKEN_STANDARDS, type TokenMetadata, type TokenStandard } from '../records.ts'
import { searchTerms } from '../search-terms.ts'
import { blobOf, hexColumn, numberColumn, type SqliteOptions } from './database.ts'
import { readRecords } from './read-records.ts'
import { recountDifferences } from './recount.ts'
import { clearBlocks, hashOfBlock, removeBlocks } from './rollback-rows.ts'
import { SqliteReader } from './sqlite-reader.ts'
import { insertBlock } from './write-blocks.ts'
import { addTotals } from './write-totals.ts'

/** Blocks removed per transaction of a rollback. */
const ROLLBACK_BLOCKS = 256

const TOKEN_TERM = 0
const LABEL_TERM = 1

/** Index in one SQLite file. Its methods are synchronous inside: use it in a separate thread. */
export class SqliteIndex extends SqliteReader implements IndexStore {
  constructor(options: Omit<SqliteOptions, 'readOnly'>) {
    super(options)
  }

  async append(records: readonly BlockRecord[]): Promise<void> {
    const last = records.at(-1)
    if (last === undefined) return
    const position = await this.position()
    assert(records[0]?.number === (position?.number ?? -1) + 1, 'blocks follow the position of the index')
    this.database.transaction(() => {
      for (const record of records) insertBlock(this.database, record)
      addTotals(this.database, totalsOf(records))
      this.#setPosition(last.number, last.hash)
    })
  }

  async rollback(number: number): Promise<void> {
    if (number < 0) {
      this.database.transaction(() => clearBlocks(this.database))
      return
    }
    for (;;) {
      const position = await this.position()
      if (position === undefined || position.number <= number) return
      const to = Math.max(number, position.number - ROLLBACK_BLOCKS)
      this.database.transaction(() => {
        const records = readRecords(this.database, to + 1, position.number)
        removeBlocks(this.database, to, totalsOf(records))
        const hash = hashOfBlock(this.database, to)
        assert(hash !== undefined, 'the block before the reverted ones has its row')
        this.#setPosition(to, hash)
      })
    }
  }

  async tokensToRead(limit: number): Promise<readonly { readonly address: Hex; readonly standard: TokenStandard }[]> {
    return this.database
      .all('SELECT address, standard FROM token WHERE is_stale = 1 ORDER BY is_read LIMIT ?', limit)
      .map(row => ({
        address: hexColumn(row, 'address'),
        standard: TOKEN_STANDARDS[numberColumn(row, 'standard')] as TokenStandard,
      }))
  }

  async writeToken(address: Hex, { name, symbol, decimals, supply }: TokenMetadata): Promise<void> {
    const blob = blobOf(address)
    this.database.transaction(() => {
      this.database.run(
        'UPDATE token SET name = ?, symbol = ?, decimals = ?, supply = ?, is_read = 1, is_stale = 0 WHERE address = ?',
        name,
        symbol,
        decimals,
        supply === null ? null : supply.toString(),
        blob,
      )
      this.#writeTerms(TOKEN_TERM, blob, searchTerms(name, symbol))
    })
  }

  async writeLabels(labels: readonly AddressLabel[]): Promise<void> {
    this.database.transaction(() => {
      this.database.run('DELETE FROM label')
      this.database.run('DELETE FROM search WHERE kind = ?', LABEL_TERM)
      for (const { address, name } of labels) {
        this.database.run('INSERT OR REPLACE INTO label (address, name) VALUES (?, ?)', blobOf(address), name)
        this.#writeTerms(LABEL_TERM, blobOf(address), searchTerms(name))
      }
    })
  }

  async recount(): Promise<readonly string[]> {
    return this.database.transaction(() => recountDifferences(this.database))
  }

  #writeTerms(kind: number, address: Uint8Array, terms: readonly string[]): void {
    this.database.run('DELETE FROM search WHERE kind = ? AND address = ?', kind, address)
    for (const term of terms)
      this.database.run('INSERT OR IGNORE INTO search (term, kind, address) VALUES (?, ?, ?)', term, kind, address)
  }

  #setPosition(number: number, hash: Hex): void {
    this.database.run(
      'INSERT INTO position (id, number, hash) VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE SET number = excluded.number, hash = excluded.hash',
      number,
      blobOf(hash),
    )
  }
}
