import { randomBytes } from 'node:crypto'
import { link, open, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CodedError } from '../errors.ts'
import { syncDirectory, writeAndSync } from './fsync.ts'

export type NewFileError =
  | { readonly code: 'FILE_EXISTS'; readonly path: string }
  /** Parent folder. */
  | { readonly code: 'FOLDER_MISSING'; readonly path: string }

/**
 * Writes a new file: after a crash it is complete and on disk, or absent, and an existing file is unchanged. Throws
 * CodedError<NewFileError>. `mode` is reduced by the process's umask.
 */
export const writeNewFile = async (path: string, content: string, mode = 0o600): Promise<void> => {
  const folder = dirname(path)
  const temporary = join(folder, `.${basename(path)}.${randomBytes(6).toString('hex')}.new`)
  const handle = await open(temporary, 'wx', mode).catch(error => refuse(error, 'ENOENT', 'FOLDER_MISSING', folder))
  try {
    await writeAndSync(handle, content)
    // A rename would replace an existing file.
    await link(temporary, path)
  } catch (error) {
    refuse(error, 'EEXIST', 'FILE_EXISTS', path)
  } finally {
    await unlink(temporary)
  }
  await syncDirectory(folder)
}

/** Converts the given system error to a NewFileError; rethrows others. */
const refuse = (error: unknown, system: string, code: NewFileError['code'], path: string): never => {
  if ((error as NodeJS.ErrnoException).code !== system) throw error
  throw new CodedError<NewFileError>({ code, path }, { cause: error })
}
