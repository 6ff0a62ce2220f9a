import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { CodedError } from '../errors.ts'

/** A folder that its file system refuses although the one above it is there. */
interface FolderRefused {
  readonly code: 'FOLDER_REFUSED'
  readonly path: string
}

/**
 * Creates a folder, and those above it that are missing; one that is there stays as it is. Throws CodedError<FolderRefused>, or the error of
 * the system. The `recursive` of `mkdir` tries for ever where the system answers as if the folder above were missing, as in /proc.
 */
export const makeFolder = (path: string, mode = 0o700): void => {
  const above = dirname(path)
  if (!existsSync(above)) makeFolder(above, mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (isFolder(path)) return
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new CodedError<FolderRefused>({ code: 'FOLDER_REFUSED', path }, { cause: error })
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
