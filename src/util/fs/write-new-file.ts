import { randomBytes } from 'node:crypto'
import { link, open, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CodedError } from '../errors.ts'
import { syncDirectory, writeAndSync } from './fsync.ts'

export type NewFileError =
  | { readonly code: 'FILE_EXISTS'; readonly path: string }
  /** The folder it should stand in. */
  | { readonly code: 'FOLDER_MISSING'; readonly path: string }

/**
 * Writes a file where there is none: after a crash it is there whole and on the disk, or not at all, and a file that is there
 * already stays as it is. Throws CodedError<NewFileError>. `mode` is lessened by the process's umask.
 */
export const writeNewFile = async (path: string, content: string, mode = 0o600): Promise<void> => {
  const folder = dirname(path)
  const temporary = join(folder, `.${basename(path)}.${randomBytes(6).toString('hex')}.new`)
  const handle = await open(temporary, 'wx', mode).catch(error => refuse(error, 'ENOENT', 'FOLDER_MISSING', folder))
  try {
    await writeAndSync(handle, content)
    // A rename would take the place of a file that is there.
    await link(temporary, path)
  } catch (error) {
    refuse(error, 'EEXIST', 'FILE_EXISTS', path)
  } finally {
    await unlink(temporary)
  }
  await syncDirectory(folder)
}

/** In our terms when it is that error, as it is otherwise. */
const refuse = (error: unknown, system: string, code: NewFileError['code'], path: string): never => {
  if ((error as NodeJS.ErrnoException).code !== system) throw error
  throw new CodedError<NewFileError>({ code, path }, { cause: error })
}
