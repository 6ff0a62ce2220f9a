import type { DatabaseSync } from 'node:sqlite'
import { CodedError } from '@tandem/base/errors.ts'
import { type IndexStoreError, MIGRATIONS } from '../sql/schema.ts'

/** Migrates an index to the newest layout. Throws INDEX_TOO_NEW. */
export const migrate = (database: DatabaseSync, path: string): void => {
  const { user_version: found } = database.prepare('PRAGMA user_version').get() as { user_version: number }
  if (found > MIGRATIONS.length)
    throw new CodedError<IndexStoreError>({ code: 'INDEX_TOO_NEW', path, found, known: MIGRATIONS.length })
  for (let version = found; version < MIGRATIONS.length; version++) {
    database.exec('BEGIN IMMEDIATE')
    database.exec(MIGRATIONS[version] as string)
    database.exec(`PRAGMA user_version = ${version + 1}`)
    database.exec('COMMIT')
  }
}
