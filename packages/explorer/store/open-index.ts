import type { IndexReader, IndexStore } from './index-store.ts'

/** Database of an index. */
export type IndexDatabase =
  | { readonly kind: 'sqlite'; readonly path: string; readonly ephemeral: boolean }
  | {
      readonly kind: 'postgres'
      readonly url: string
      /** A replica that answers reads. */
      readonly readUrl?: string | undefined
    }

/** Opens an index for its writer. Throws INDEX_TOO_NEW and DATABASE_UNREACHABLE. */
export const openIndex = async (database: IndexDatabase): Promise<IndexStore> => {
  if (database.kind === 'sqlite') {
    const { SqliteIndex } = await import('./sqlite/sqlite-index.ts')
    return new SqliteIndex(database)
  }
  const { PostgresDatabase } = await import('./postgres/postgres-database.ts')
  const { PostgresIndex } = await import('./postgres/postgres-index.ts')
  return new PostgresIndex(await PostgresDatabase.open(database))
}

/** Opens an index that its writer has opened before. */
export const openIndexReader = async (database: IndexDatabase): Promise<IndexReader> => {
  if (database.kind === 'sqlite') {
    const { SqliteReader } = await import('./sqlite/sqlite-index.ts')
    return new SqliteReader({ path: database.path, readOnly: true })
  }
  const { PostgresDatabase } = await import('./postgres/postgres-database.ts')
  const { SqlReader } = await import('./sql/sql-reader.ts')
  return new SqlReader(await PostgresDatabase.open({ url: database.readUrl ?? database.url, readOnly: true }))
}
