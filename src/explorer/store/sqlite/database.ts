import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { bytesToHex, type Hex } from '../../../util/bytes.ts'
import { migrate } from './schema.ts'

export type SqlRow = Readonly<Record<string, null | number | bigint | string | Uint8Array>>

export interface SqliteOptions {
  readonly path: string
  readonly readOnly?: boolean
  /** Temporary index: nothing waits for the disk. */
  readonly ephemeral?: boolean
}

const CACHE_KILOBYTES = 32 * 1_024
const BUSY_MS = 10_000

/** Connection to an index, with its prepared statements. */
export class SqliteDatabase {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  /** Throws INDEX_TOO_NEW. */
  constructor({ path, readOnly = false, ephemeral = false }: SqliteOptions) {
    if (path !== ':memory:' && !readOnly) mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    this.#database = new DatabaseSync(path, { readOnly, timeout: BUSY_MS })
    this.#database.exec(
      `PRAGMA cache_size = -${CACHE_KILOBYTES}; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF`,
    )
    if (readOnly) return
    // The write-ahead log keeps the file consistent when the process ends; data lost in a power failure is indexed again.
    this.#database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${ephemeral ? 'OFF' : 'NORMAL'}`)
    migrate(this.#database, path)
  }

  run(sql: string, ...values: readonly SQLInputValue[]): number {
    return Number(this.#prepare(sql).run(...values).changes)
  }

  all(sql: string, ...values: readonly SQLInputValue[]): SqlRow[] {
    return this.#prepare(sql).all(...values) as SqlRow[]
  }

  get(sql: string, ...values: readonly SQLInputValue[]): SqlRow | undefined {
    return this.#prepare(sql).get(...values) as SqlRow | undefined
  }

  /** For many executions of one statement. */
  statement(sql: string): StatementSync {
    return this.#prepare(sql)
  }

  /** Runs `work` atomically. */
  transaction<T>(work: () => T): T {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.#database.exec('COMMIT')
      return result
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }

  close(): void {
    this.#statements.clear()
    this.#database.close()
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}

export const blobOf = (hex: Hex): Uint8Array => Buffer.from(hex.slice(2), 'hex')
export const blobOrNull = (hex: Hex | null): Uint8Array | null => (hex === null ? null : blobOf(hex))
export const hexColumn = (row: SqlRow, name: string): Hex => bytesToHex(row[name] as Uint8Array)
export const hexOrNull = (row: SqlRow, name: string): Hex | null => {
  const value = row[name]
  return value === null || value === undefined ? null : bytesToHex(value as Uint8Array)
}
export const numberColumn = (row: SqlRow, name: string): number => row[name] as number
export const bigintColumn = (row: SqlRow, name: string): bigint => BigInt(row[name] as string)
