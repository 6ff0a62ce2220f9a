import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { CodedError } from '../errors.ts'

type FolderError =
  /** A file has that name. */
  | { readonly code: 'NOT_A_FOLDER'; readonly path: string }
  /** Its file system refuses it although the folder above it is there. */
  | { readonly code: 'FOLDER_REFUSED'; readonly path: string }

/**
 * Creates a folder, and those above it that are missing, durably; one that is there stays as it is. Throws CodedError<FolderError>, or the error of
 * the system. The `recursive` of `mkdir` tries for ever where the system answers as if the folder above were missing, as in /proc.
 */
export const makeFolder = (path: string, mode = 0o700): void => {
  const above = dirname(path)
  if (!existsSync(above)) makeFolder(above, mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (isFolder(path)) return
    const code = REFUSALS[(error as NodeJS.ErrnoException).code ?? '']
    if (code === undefined) throw error
    throw new CodedError<FolderError>({ code, path }, { cause: error })
  }
  syncFolder(above)
}

/** A new name is only durable when its folder is. Windows has no such operation. */
const syncFolder = (path: string): void => {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** Code of the system -> ours. */
const REFUSALS: Readonly<Record<string, FolderError['code']>> = { EEXIST: 'NOT_A_FOLDER', ENOENT: 'FOLDER_REFUSED' }

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
