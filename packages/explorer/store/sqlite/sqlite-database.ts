import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError, namingFile } from '@tandem/base/errors.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { CONTRACT_MIGRATIONS, type IndexStoreError, MIGRATIONS } from '../sql/schema.ts'
import { blobOf, type SqlDatabase, type SqlRow, type SqlValue, type SqlWrites } from '../sql/sql-database.ts'

export interface SqliteOptions {
  readonly path: string
  readonly readOnly?: boolean
  /** Temporary index: nothing waits for the disk. */
  readonly ephemeral?: boolean
  /** It holds verified contracts, which nothing can be made from again: writes wait for the disk. */
  readonly isApart?: boolean
}

const CACHE_KILOBYTES = 32 * 1_024
/**
 * Pages in the write-ahead log from which it is copied into the file. A block of 2,000 transactions changes a thousand, most of them those that
 * the block before it changed: of many blocks together each is copied once.
 */
const LOGGED_PAGES = 8_000
const BUSY_MS = 10_000

/** Thrown as CodedError for a file that is damaged, or no database. */
type IndexUnreadable = { readonly code: 'INDEX_UNREADABLE'; readonly path: string; readonly reason: string }

const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26

const indexUnreadable = (error: unknown, path: string): CodedError<IndexUnreadable> | undefined => {
  const { errcode, message } = error as { readonly errcode?: number; readonly message?: string }
  if (errcode !== SQLITE_CORRUPT && errcode !== SQLITE_NOTADB) return undefined
  return new CodedError<IndexUnreadable>(
    { code: 'INDEX_UNREADABLE', path, reason: message ?? 'damaged' },
    { cause: error },
  )
}

/** Migrates a file to the newest layout. Throws INDEX_TOO_NEW and CONTRACTS_TOO_NEW. */
const migrate = (database: DatabaseSync, { path, isApart = false }: SqliteOptions): void => {
  const { user_version: found } = database.prepare('PRAGMA user_version').get() as { user_version: number }
  const migrations = isApart ? CONTRACT_MIGRATIONS : MIGRATIONS
  const { length: known } = migrations
  if (found > known)
    throw new CodedError<IndexStoreError>({ code: isApart ? 'CONTRACTS_TOO_NEW' : 'INDEX_TOO_NEW', path, found, known })
  for (let version = found; version < known; version++) {
    database.exec('BEGIN IMMEDIATE')
    database.exec(migrations[version] as string)
    database.exec(`PRAGMA user_version = ${version + 1}`)
    database.exec('COMMIT')
  }
}

interface TableLayout {
  /** Columns of the primary key. */
  readonly key: readonly string[]
  /** Columns of bytes. */
  readonly bytes: ReadonlySet<string>
}

/** Index, or verified contracts, in one SQLite file, with its prepared statements. Its methods are synchronous inside: use it in a separate thread. */
export class SqliteDatabase implements SqlDatabase, SqlWrites {
  readonly #database: DatabaseSync
  readonly #path: string
  readonly #statements = new Map<string, StatementSync>()
  readonly #layouts = new Map<string, TableLayout>()
  #writing: Promise<unknown> = Promise.resolve()

  /** Throws INDEX_TOO_NEW, CONTRACTS_TOO_NEW and INDEX_UNREADABLE. */
  constructor(options: SqliteOptions) {
    const { path, readOnly = false, isApart = false } = options
    this.#path = path
    if (path !== ':memory:' && !readOnly) makeFolder(dirname(path))
    this.#database = namingFile(path, () => new DatabaseSync(path, { readOnly, timeout: BUSY_MS }))
    try {
      namingFile(path, () => this.#prepareFile(options))
    } catch (error) {
      this.#database.close()
      throw (isApart ? undefined : indexUnreadable(error, path)) ?? error
    }
  }

  #prepareFile(options: SqliteOptions): void {
    const { readOnly = false, ephemeral = false, isApart = false } = options
    // No memory map: a file that is cut short would end the process without a word.
    this.#database.exec(
      `PRAGMA cache_size = -${CACHE_KILOBYTES}; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF`,
    )
    if (readOnly) return
    // The write-ahead log keeps the file consistent when the process ends; data lost in a power failure is indexed again.
    const synchronous = isApart ? 'FULL' : ephemeral ? 'OFF' : 'NORMAL'
    this.#database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`)
    this.#database.exec(`PRAGMA wal_autocheckpoint = ${LOGGED_PAGES}`)
    migrate(this.#database, options)
  }

  async all(sql: string, ...values: readonly SqlValue[]): Promise<SqlRow[]> {
    return this.#prepare(sql).all(...values) as SqlRow[]
  }

  async get(sql: string, ...values: readonly SqlValue[]): Promise<SqlRow | undefined> {
    return this.#prepare(sql).get(...values) as SqlRow | undefined
  }

  async lookUp(sql: string, keys: readonly (readonly SqlValue[])[]): Promise<SqlRow[]> {
    const statement = this.#prepare(sql)
    const rows: SqlRow[] = []
    for (const key of keys) for (const row of statement.all(...key)) rows.push(row as SqlRow)
    return rows
  }

  async run(sql: string, ...values: readonly SqlValue[]): Promise<number> {
    return Number(this.#prepare(sql).run(...values).changes)
  }

  async insert(table: string, rows: readonly SqlRow[]): Promise<void> {
    this.#write(table, rows, '')
  }

  async put(table: string, rows: readonly SqlRow[]): Promise<void> {
    const { key } = this.#layoutOf(table)
    const others = Object.keys(rows[0] ?? {}).filter(column => !key.includes(column))
    const update = others.length === 0 ? 'NOTHING' : `UPDATE SET ${others.map(name => `${name} = excluded.${name}`)}`
    this.#write(table, rows, ` ON CONFLICT (${key}) DO ${update}`)
  }

  async increase(table: string, column: string, rows: readonly SqlRow[]): Promise<number> {
    const { key } = this.#layoutOf(table)
    const [first] = rows
    if (first === undefined) return 0
    const columns = Object.keys(first)
    const add = ` ON CONFLICT (${key}) DO UPDATE SET ${column} = ${column} + excluded.${column} RETURNING ${column} AS sum`
    const statement = this.#insertInto(table, columns, add)
    const valuesOf = this.#valuesOf(table, columns)
    // The number of a row that was there has grown beyond what came.
    return rows.filter(row => statement.get(...valuesOf(row))?.['sum'] === row[column]).length
  }

  async remove(table: string, keys: readonly SqlRow[]): Promise<void> {
    const [first] = keys
    if (first === undefined) return
    const columns = Object.keys(first)
    const statement = this.#prepare(`DELETE FROM ${table} WHERE ${columns.map(name => `${name} = ?`).join(' AND ')}`)
    const valuesOf = this.#valuesOf(table, columns)
    for (const key of keys) statement.run(...valuesOf(key))
  }

  async transaction<T>(work: (writes: SqlWrites) => Promise<T>): Promise<T> {
    const written = this.#writing.then(() => this.#atomic(work))
    this.#writing = written.catch(() => undefined)
    return written
  }

  async close(): Promise<void> {
    await this.#writing
    this.#statements.clear()
    this.#database.close()
  }

  async #atomic<T>(work: (writes: SqlWrites) => Promise<T>): Promise<T> {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const result = await work(this)
      this.#database.exec('COMMIT')
      return result
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      return namingFile(this.#path, () => {
        throw error
      })
    }
  }

  #write(table: string, rows: readonly SqlRow[], conflict: string): void {
    const [first] = rows
    if (first === undefined) return
    const columns = Object.keys(first)
    const statement = this.#insertInto(table, columns, conflict)
    const valuesOf = this.#valuesOf(table, columns)
    for (const row of rows) statement.run(...valuesOf(row))
  }

  #insertInto(table: string, columns: readonly string[], rest: string): StatementSync {
    return this.#prepare(`INSERT INTO ${table} (${columns}) VALUES (${columns.map(() => '?')})${rest}`)
  }

  /** Values of a row by column; bytes may be given as hex. */
  #valuesOf(table: string, columns: readonly string[]): (row: SqlRow) => readonly SqlValue[] {
    const { bytes } = this.#layoutOf(table)
    const isBytes = columns.map(name => bytes.has(name))
    return row =>
      columns.map((name, at) => {
        const value = row[name] as SqlValue
        return isBytes[at] && typeof value === 'string' ? blobOf(value as Hex) : value
      })
  }

  #layoutOf(table: string): TableLayout {
    return getOrMake(this.#layouts, table, () => {
      const columns = this.#database.prepare('SELECT name, type, pk FROM pragma_table_info(?) ORDER BY pk').all(table)
      const named = (rows: typeof columns): readonly string[] => rows.map(({ name }) => name as string)
      return {
        key: named(columns.filter(({ pk }) => Number(pk) > 0)),
        bytes: new Set(named(columns.filter(({ type }) => type === 'BLOB'))),
      }
    })
  }

  #prepare(sql: string): StatementSync {
    return getOrMake(this.#statements, sql, () => this.#database.prepare(sql))
  }
}
