import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'

/* What the store needs of a database. Every query is written once, in the SQL that SQLite and PostgreSQL share, with ? for a value. */

/** INTEGER, TEXT and BLOB; a number is exact. */
export type SqlValue = null | number | string | Uint8Array
export type SqlRow = Readonly<Record<string, SqlValue>>

/** Reads of one database. */
export interface SqlReads {
  all(sql: string, ...values: readonly SqlValue[]): Promise<SqlRow[]>
  get(sql: string, ...values: readonly SqlValue[]): Promise<SqlRow | undefined>
  /** Runs a query for each key, whose parts are its values; answers the rows in the order of the keys. Keys have no null. */
  lookUp(sql: string, keys: readonly (readonly SqlValue[])[]): Promise<SqlRow[]>
}

/** Reads and writes that take effect together. They may be asked at once, and then take their turns. In rows to write, bytes may be given as hex. */
export interface SqlWrites extends SqlReads {
  /** Returns the number of rows that changed. */
  run(sql: string, ...values: readonly SqlValue[]): Promise<number>
  /** Adds rows, all with the same columns. */
  insert(table: string, rows: readonly SqlRow[]): Promise<void>
  /** Adds rows, all with the same columns, or replaces these columns of those with the same primary key. */
  put(table: string, rows: readonly SqlRow[]): Promise<void>
  /** Adds to a number of the rows with the same primary keys, or adds the rows; returns how many were added. Stored numbers are above 0, and so are those that come. */
  increase(table: string, column: string, rows: readonly SqlRow[]): Promise<number>
  /** Removes the rows with these values, all of the same columns. */
  remove(table: string, keys: readonly SqlRow[]): Promise<void>
}

export interface SqlDatabase extends SqlReads {
  /** Runs `work` atomically and alone. */
  transaction<T>(work: (writes: SqlWrites) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export const blobOf = (hex: Hex): Uint8Array => Buffer.from(hex.slice(2), 'hex')
export const hexColumn = (row: SqlRow, name: string): Hex => bytesToHex(row[name] as Uint8Array)
export const hexOrNull = (row: SqlRow, name: string): Hex | null => {
  const value = row[name]
  return value === null || value === undefined ? null : bytesToHex(value as Uint8Array)
}
export const numberColumn = (row: SqlRow, name: string): number => row[name] as number
export const bigintColumn = (row: SqlRow, name: string): bigint => BigInt(row[name] as string)
