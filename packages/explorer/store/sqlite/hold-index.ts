import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { CodedError, namingFile } from '@tandem/base/errors.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'

/** Thrown as CodedError for an index that another process writes. */
type IndexInUse = { readonly code: 'INDEX_IN_USE'; readonly path: string }

/**
 * Holds an index for this process until it is closed, or the process ends: two indexers would write the same blocks. An SQLite file beside it is
 * locked, since readers in other threads must be able to open the index itself. Throws INDEX_IN_USE.
 */
export const holdIndex = (path: string): { close(): void } => {
  const lockPath = `${path}.lock`
  makeFolder(dirname(path))
  const lock = namingFile(lockPath, () => new DatabaseSync(lockPath, { timeout: 0 }))
  try {
    namingFile(path, () => lock.exec('BEGIN EXCLUSIVE'))
  } catch (error) {
    lock.close()
    const isLocked = error instanceof Error && /locked|busy/i.test(error.message)
    throw isLocked ? new CodedError<IndexInUse>({ code: 'INDEX_IN_USE', path }, { cause: error }) : error
  }
  return lock
}
