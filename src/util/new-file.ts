import { randomBytes } from 'node:crypto'
import { link, open, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CodedError } from './errors.ts'

export type NewFileError = { readonly code: 'FILE_EXISTS'; readonly path: string }

/**
 * Writes a file where there is none: after a crash it is there whole and on the disk, or not at all, and a file that is there
 * already stays as it is (FILE_EXISTS). `mode` is lessened by the process's umask. Throws what the file system throws.
 */
export const writeNewFile = async (path: string, content: string, mode = 0o600): Promise<void> => {
  const folder = dirname(path)
  const temporary = join(folder, `.${basename(path)}.${randomBytes(6).toString('hex')}.new`)
  const handle = await open(temporary, 'wx', mode)
  try {
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    // A rename would take the place of a file that is there.
    await link(temporary, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new CodedError<NewFileError>({ code: 'FILE_EXISTS', path }, { cause: error })
  } finally {
    await unlink(temporary)
  }
  await syncFolder(folder)
}

/** A new name is only durable when its folder is. */
const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
