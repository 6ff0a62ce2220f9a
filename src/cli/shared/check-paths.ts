import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import { isCoded } from '@tandem/base/errors.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import { explainError } from './explain-error.ts'

/** Creates the data folder if it is missing. Throws an error that names the option when that is impossible or it is not writable. */
export const prepareDataDir = (path: string, option = '--datadir'): Promise<void> =>
  naming(option, path, async () => {
    makeFolder(path)
    await access(path, constants.W_OK | constants.X_OK)
  })

/** Checks that a file can be read, if it exists, and written at the end. Throws an error that names the option. */
export const checkStateFile = async (path: string, option = '--state'): Promise<void> => {
  const found = await stat(path).catch(() => undefined)
  if (found !== undefined && !found.isFile()) throw new Error(`${option}: ${path} is no file.`)
  if (found !== undefined) await naming(option, path, () => access(path, constants.R_OK | constants.W_OK))
  // The file is replaced by a new one, so its folder has to take one.
  await naming(option, dirname(path), () => access(dirname(path), constants.W_OK | constants.X_OK))
}

const naming = async (option: string, path: string, work: () => Promise<void>): Promise<void> => {
  try {
    await work()
  } catch (error) {
    if (isCoded(error)) throw new Error(`${option}: ${explainError(error.detail)}`, { cause: error })
    const { errno, message } = error as NodeJS.ErrnoException
    const reason = errno === undefined ? message : getSystemErrorMessage(errno)
    throw new Error(`${option}: ${path} cannot be used: ${reason}.`, { cause: error })
  }
}
