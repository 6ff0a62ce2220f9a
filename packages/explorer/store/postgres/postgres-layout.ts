import { CodedError } from '@tandem/base/errors.ts'
import { type IndexStoreError, MIGRATIONS } from '../sql/schema.ts'
import type { SqlRow, SqlValue } from '../sql/sql-database.ts'

/** Tables that grow with the chain, with the column of the block's number. Each is divided into tables of `PARTITION_BLOCKS` blocks. */
const PARTITIONED: ReadonlyMap<string, string> = new Map([
  ['block', 'number'],
  ['tx', 'block'],
  ['transfer', 'block'],
  ['internal', 'block'],
  ['failed', 'block'],
])

/** Twelve days of blocks of a second. */
export const PARTITION_BLOCKS = 1_000_000

/** The layout in PostgreSQL's words: types, order of texts by their bytes, and partitions. */
const postgresLayout = (sql: string): string =>
  sql
    .replaceAll(' WITHOUT ROWID', '')
    .split(';')
    .map(withPartitions)
    .map(withTruncation)
    .join(';')
    .replace(/\bBLOB\b/g, 'bytea')
    .replace(/\bINTEGER\b/g, 'bigint')
    .replace(/\bTEXT\b/g, 'text COLLATE "C"')

/** Emptying a table takes no time and leaves no dead rows. */
const withTruncation = (statement: string): string => {
  const words = statement.trim().split(' ')
  return words.length === 3 && words[0] === 'DELETE' ? `TRUNCATE ${words[2]}` : statement
}

const withPartitions = (statement: string): string => {
  const [create, table, name = ''] = statement.trim().split(' ')
  const column = create === 'CREATE' && table === 'TABLE' ? PARTITIONED.get(name) : undefined
  return column === undefined ? statement : `${statement} PARTITION BY RANGE (${column})`
}

/** Tables that the partitioned ones need for blocks up to a number. */
export const partitionsUpTo = (number: number): readonly string[] =>
  [...PARTITIONED.keys()].flatMap(table =>
    Array.from({ length: Math.floor(number / PARTITION_BLOCKS) + 1 }, (_, part) => {
      const from = part * PARTITION_BLOCKS
      return `CREATE TABLE IF NOT EXISTS ${table}_${part} PARTITION OF ${table} FOR VALUES FROM (${from}) TO (${from + PARTITION_BLOCKS})`
    }),
  )

/** Column by which rows of a table are divided; undefined: they are not. */
export const partitionColumn = (table: string): string | undefined => PARTITIONED.get(table)

/** Verified contracts are no rows of the index: they stay when it is emptied. */
const CONTRACTS =
  'CREATE TABLE IF NOT EXISTS contract (address bytea PRIMARY KEY, name text NOT NULL, record text NOT NULL)'

interface LayoutQueries {
  query(sql: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>
}

/** Brings the layout up to date, within a transaction. Throws INDEX_TOO_NEW. */
export const migratePostgres = async (queries: LayoutQueries, database: string): Promise<void> => {
  await queries.query('CREATE TABLE IF NOT EXISTS layout (version bigint NOT NULL)')
  await queries.query(CONTRACTS)
  const [row] = await queries.query('SELECT version FROM layout')
  const found = row === undefined ? 0 : (row['version'] as number)
  const known = MIGRATIONS.length
  if (found > known) throw new CodedError<IndexStoreError>({ code: 'INDEX_TOO_NEW', path: database, found, known })
  if (found === known) return
  for (const sql of MIGRATIONS.slice(found)) await queries.query(postgresLayout(sql))
  for (const sql of partitionsUpTo(0)) await queries.query(sql)
  await queries.query(
    row === undefined ? 'INSERT INTO layout (version) VALUES ($1)' : 'UPDATE layout SET version = $1',
    [known],
  )
}
