import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { CodedError, isDatabaseLocked, namingFile } from '@tandem/base/errors.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import type { SqlDatabase } from './sql/sql-database.ts'
import type { SqlIndex } from './sql/sql-index.ts'
import type { SqlReader } from './sql/sql-reader.ts'
import type { SqliteOptions } from './sqlite/sqlite-database.ts'

/** Database of an index. */
export type IndexDatabase =
  | { readonly kind: 'sqlite'; readonly path: string; readonly ephemeral: boolean }
  | {
      readonly kind: 'postgres'
      readonly url: string
      /** A replica that answers reads. */
      readonly readUrl?: string | undefined
    }

/** Thrown as CodedError for an index that another process writes. */
type IndexInUse = { readonly code: 'INDEX_IN_USE'; readonly path: string }

/**
 * Holds the file of an index for this process until it is closed, or the process ends: two indexers would write the same blocks. A file beside it is
 * locked, since readers in other threads must be able to open the index itself. Returns undefined for PostgreSQL. Throws INDEX_IN_USE.
 */
export const holdIndex = (database: IndexDatabase): { close(): void } | undefined => {
  if (database.kind !== 'sqlite') return undefined
  const { path } = database
  const lockPath = `${path}.lock`
  makeFolder(dirname(path))
  const lock = namingFile(lockPath, () => new DatabaseSync(lockPath, { timeout: 0 }))
  try {
    namingFile(lockPath, () => lock.exec('BEGIN EXCLUSIVE'))
  } catch (error) {
    lock.close()
    throw isDatabaseLocked(error) ? new CodedError<IndexInUse>({ code: 'INDEX_IN_USE', path }, { cause: error }) : error
  }
  return lock
}

const openSqlite = async (options: SqliteOptions): Promise<SqlDatabase> =>
  new (await import('./sqlite/sqlite-database.ts')).SqliteDatabase(options)

/** Opens an index for its writer. Throws INDEX_TOO_NEW and DATABASE_UNREACHABLE. */
export const openIndex = async (database: IndexDatabase): Promise<SqlIndex> => {
  if (database.kind === 'sqlite') {
    const { SqlIndex } = await import('./sql/sql-index.ts')
    return new SqlIndex(await openSqlite(database))
  }
  const { PostgresDatabase } = await import('./postgres/postgres-database.ts')
  const { PostgresIndex } = await import('./postgres/postgres-index.ts')
  return new PostgresIndex(await PostgresDatabase.open(database))
}

/** Opens an index that its writer has opened before. */
export const openIndexReader = async (database: IndexDatabase): Promise<SqlReader> => {
  const { SqlReader } = await import('./sql/sql-reader.ts')
  if (database.kind === 'sqlite') return new SqlReader(await openSqlite({ path: database.path, readOnly: true }))
  const { PostgresDatabase } = await import('./postgres/postgres-database.ts')
  return new SqlReader(await PostgresDatabase.open({ url: database.readUrl ?? database.url, readOnly: true }))
}
