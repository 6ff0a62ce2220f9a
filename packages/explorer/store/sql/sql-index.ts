import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { AddressLabel } from '../index-query.ts'
import { addToTotals, emptyTotals } from '../index-totals.ts'
import { type BlockRecord, TOKEN_STANDARDS, type TokenMetadata, type TokenStandard } from '../records.ts'
import { searchTerms } from '../search-terms.ts'
import { STORED_NAME_CHARS, storedText, storedTextOrNull } from '../stored-text.ts'
import { IndexBatch } from './index-batch.ts'
import { readRecords } from './read-records.ts'
import { clearBlocks, hashOfBlock, removeBlocks } from './rollback-rows.ts'
import { blobOf, hexColumn, numberColumn, type SqlReads, type SqlWrites } from './sql-database.ts'
import { SqlReader } from './sql-reader.ts'

/** Blocks removed per transaction of a rollback. */
const ROLLBACK_BLOCKS = 256

const TOKEN_TERM = 0
const LABEL_TERM = 1

/** Index in a database of SQL, for its single writer. */
export class SqlIndex extends SqlReader {
  /** Adds blocks that follow the position, in one transaction with the position. */
  append(records: readonly BlockRecord[]): Promise<void> {
    return this.appendAll([records])
  }

  /** Adds batches of such blocks, all in one transaction; a batch is written while the next one is asked for. */
  async appendAll(batches: AsyncIterable<readonly BlockRecord[]> | Iterable<readonly BlockRecord[]>): Promise<void> {
    await this.database.transaction(async writes => {
      // Read with the lock of the writer: of two processes that fill one index, one begins again behind the other.
      const writer = await IndexBatch.begin(writes, await positionOf(writes))
      // While a batch is written the next one is read.
      let written: Promise<unknown> = Promise.resolve()
      try {
        for await (const records of batches) {
          await written
          written = writer.add(records)
          // Reported below: the next batch may take a while.
          written.catch(() => undefined)
        }
      } finally {
        await written
      }
      const position = await writer.end()
      if (position !== undefined) await setPosition(writes, position.number, position.hash)
    })
  }

  /** Many blocks follow: until `endBackfill` an empty index may be unable to serve lists. */
  async beginBackfill(): Promise<void> {
    // Nothing to prepare.
  }

  /** Makes lists fast again, also where another process began; returns at once when they are. */
  async endBackfill(): Promise<void> {
    // Lists are served at any time.
  }

  /** Removes every block above `number`; -1 empties the index. */
  async rollback(number: number): Promise<void> {
    if (number < 0) {
      await this.database.transaction(clearBlocks)
      return
    }
    while (await this.#removeSome(number));
  }

  /** Returns the tokens whose metadata must be read, those never read first. */
  async tokensToRead(limit: number): Promise<readonly { readonly address: Hex; readonly standard: TokenStandard }[]> {
    const rows = await this.database.all(
      'SELECT address, standard FROM token WHERE is_stale = 1 ORDER BY is_read, address LIMIT ?',
      limit,
    )
    return rows.map(row => ({
      address: hexColumn(row, 'address'),
      standard: TOKEN_STANDARDS[numberColumn(row, 'standard')] as TokenStandard,
    }))
  }

  async writeToken(address: Hex, { name, symbol, decimals, supply }: TokenMetadata): Promise<void> {
    const blob = blobOf(address)
    const texts = [name, symbol].map(text => storedTextOrNull(text, STORED_NAME_CHARS))
    await this.database.transaction(async writes => {
      await writes.run(
        'UPDATE token SET name = ?, symbol = ?, decimals = ?, supply = ?, is_read = 1, is_stale = 0 WHERE address = ?',
        ...texts,
        decimals,
        supply === null ? null : supply.toString(),
        blob,
      )
      await writeTerms(writes, TOKEN_TERM, blob, searchTerms(...texts))
    })
  }

  /** Replaces the labels. */
  async writeLabels(labels: readonly AddressLabel[]): Promise<void> {
    await this.database.transaction(async writes => {
      await writes.run('DELETE FROM label')
      await writes.run('DELETE FROM search WHERE kind = ?', LABEL_TERM)
      for (const label of labels) {
        const [address, name] = [label.address, storedText(label.name, STORED_NAME_CHARS)]
        await writes.put('label', [{ address: blobOf(address), name }])
        await writeTerms(writes, LABEL_TERM, blobOf(address), searchTerms(name))
      }
    })
  }

  /** Returns true when there are more blocks above the number. */
  #removeSome(number: number): Promise<boolean> {
    return this.database.transaction(async writes => {
      const position = await positionOf(writes)
      if (position <= number) return false
      const to = Math.max(number, position - ROLLBACK_BLOCKS)
      const totals = emptyTotals()
      for await (const record of readRecords(writes, to + 1, position)) addToTotals(totals, record)
      await removeBlocks(writes, to, totals)
      const hash = await hashOfBlock(writes, to)
      assert(hash !== undefined, 'the block before the reverted ones has its row')
      await setPosition(writes, to, hash)
      return to > number
    })
  }
}

/** -1: the index is empty. */
const positionOf = async (reads: SqlReads): Promise<number> => {
  const row = await reads.get('SELECT number FROM position')
  return row === undefined ? -1 : numberColumn(row, 'number')
}

const setPosition = (writes: SqlWrites, number: number, hash: Hex): Promise<void> =>
  writes.put('position', [{ id: 1, number, hash: blobOf(hash) }])

const writeTerms = async (
  writes: SqlWrites,
  kind: number,
  address: Uint8Array,
  terms: readonly string[],
): Promise<void> => {
  await writes.run('DELETE FROM search WHERE kind = ? AND address = ?', kind, address)
  await writes.put(
    'search',
    terms.map(term => ({ term, kind, address })),
  )
}
