import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SqlIndex } from '@tandem/explorer/store/sql/sql-index.ts'
import { SqlReader } from '@tandem/explorer/store/sql/sql-reader.ts'
import { SqliteDatabase } from '@tandem/explorer/store/sqlite/sqlite-database.ts'
import { expect, onTestFinished, test, vi } from 'vitest'
import { indexStoreSuite } from './index-store-suite.ts'
import { RandomBlocks } from './random-blocks.ts'
import { recount } from './recount.ts'

vi.setConfig({ testTimeout: 120_000 })

const folder = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'tandem-index-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

indexStoreSuite('SQLite index', async () => new SqlIndex(new SqliteDatabase({ path: ':memory:' })))

test('an index that is opened again goes on where it was', async () => {
  const path = join(folder(), 'explorer', 'index.sqlite')
  const blocks = new RandomBlocks({ seed: 1 }).chain(10)
  const first = new SqlIndex(new SqliteDatabase({ path }))
  await first.append(blocks.slice(0, 6))
  await first.close()
  const second = new SqlIndex(new SqliteDatabase({ path }))
  expect((await second.position())?.number).toBe(5)
  await second.append(blocks.slice(6))
  const reader = new SqlReader(new SqliteDatabase({ path, readOnly: true }))
  expect((await reader.position())?.number).toBe(9)
  expect(await recount(second)).toEqual([])
  await reader.close()
  await second.close()
})

test('sums that differ from a count of the rows are reported', async () => {
  const path = join(folder(), 'index.sqlite')
  const store = new SqlIndex(new SqliteDatabase({ path }))
  await store.append(new RandomBlocks({ seed: 1 }).chain(10))
  const other = new DatabaseSync(path)
  other.exec("UPDATE counter SET value = value + 1 WHERE name = 'transactions'; UPDATE account SET sent = sent + 1")
  other.close()
  const found = await recount(store)
  expect(found.some(line => line.startsWith('counter transactions:'))).toBe(true)
  expect(found.some(line => line.startsWith('account 0x'))).toBe(true)
  await store.close()
})

test('an index of the layout before transfers by standard is brought up to date as it is', async () => {
  const path = join(folder(), 'index.sqlite')
  const before = new SqlIndex(new SqliteDatabase({ path }))
  await before.append(new RandomBlocks({ seed: 5, tokens: 2 }).chain(40).map(block => ({ ...block, minerCredits: [] })))
  expect(await recount(before)).toEqual([])
  await before.close()
  const other = new DatabaseSync(path)
  expect(other.prepare('SELECT sum(other_transfers) AS sum FROM token').get()?.['sum']).toBeGreaterThan(0)
  other.exec(
    'ALTER TABLE token DROP COLUMN other_transfers; ALTER TABLE block DROP COLUMN miner_credits; DROP INDEX skip_pointer_list; PRAGMA user_version = 5',
  )
  other.close()
  const index = new SqlIndex(new SqliteDatabase({ path }))
  expect((await index.position())?.number).toBe(39)
  expect(await recount(index)).toEqual([])
  await index.close()
})

test('a file that is no database is refused', async () => {
  const path = join(folder(), 'index.sqlite')
  writeFileSync(path, 'not a database, but long enough to look like one. '.repeat(200))
  expect(() => new SqlIndex(new SqliteDatabase({ path }))).toThrow('INDEX_UNREADABLE')
  expect(readFileSync(path, 'utf8')).toContain('not a database')
})

test('an index of a newer release is refused', async () => {
  const path = join(folder(), 'index.sqlite')
  const database = new DatabaseSync(path)
  database.exec('PRAGMA user_version = 1000')
  database.close()
  expect(() => new SqlIndex(new SqliteDatabase({ path }))).toThrow('INDEX_TOO_NEW')
})
