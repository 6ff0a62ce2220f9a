import { randomBytes } from 'node:crypto'
import { link, open, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import { CodedError } from '../errors.ts'
import { syncDirectory, writeAndSync } from './fsync.ts'

export type NewFileError =
  | { readonly code: 'FILE_EXISTS'; readonly path: string }
  /** Parent folder. */
  | { readonly code: 'FOLDER_MISSING'; readonly path: string }
  /** `reason`: what the system says. */
  | { readonly code: 'FILE_NOT_WRITABLE'; readonly path: string; readonly reason: string }

/**
 * Writes a new file: after a crash it is complete and on disk, or absent, and an existing file is unchanged. Throws
 * CodedError<NewFileError>. `mode` is reduced by the process's umask.
 */
export const writeNewFile = async (path: string, content: string, mode = 0o600): Promise<void> => {
  const folder = dirname(path)
  const temporary = join(folder, `.${basename(path)}.${randomBytes(6).toString('hex')}.new`)
  const handle = await open(temporary, 'wx', mode).catch(error => refuse(error, openError(error, path)))
  try {
    await writeAndSync(handle, content)
    // A rename would replace an existing file.
    await link(temporary, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    refuse(error, { code: 'FILE_EXISTS', path })
  } finally {
    await unlink(temporary)
  }
  await syncDirectory(folder)
}

/** The file beside it that is written first has a name that nobody knows: errors name the file itself. */
const openError = ({ code, errno, message }: NodeJS.ErrnoException, path: string): NewFileError =>
  code === 'ENOENT'
    ? { code: 'FOLDER_MISSING', path: dirname(path) }
    : { code: 'FILE_NOT_WRITABLE', path, reason: errno === undefined ? message : getSystemErrorMessage(errno) }

const refuse = (cause: unknown, detail: NewFileError): never => {
  throw new CodedError<NewFileError>(detail, { cause })
}
