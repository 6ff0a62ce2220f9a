import { accessSync, closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import { readLimited } from '@tandem/base/fs/read-limited.ts'
import { FILE_LIMITS } from '../../config/limits/commands.ts'
import { KEY_LIMITS } from '../../config/limits/keys.ts'
import { errorMessage, printWarning } from './output.ts'

/** Reads the bytes of a file named by an option, at most `limit`; errors name the option. */
export const readBytes = (path: string, option: string, limit: number): Buffer =>
  naming(option, path, () => readLimited(path, limit))

/** Reads the text of a file named by an option, at most `limit` bytes; errors name the option. */
export const readText = (path: string, option: string, limit: number = FILE_LIMITS.configBytes): string =>
  readBytes(path, option, limit).toString('utf8')

/** Checks that a file or folder named by an option can be read, without reading it, since a pipe is read once; errors name the option. */
export const checkReadable = (path: string, option: string, kind: 'file' | 'folder'): void =>
  naming(option, path, () => {
    const isFolder = statSync(path).isDirectory()
    if (isFolder && kind === 'file') throw new Error(folderText(path))
    if (!isFolder && kind === 'folder') throw new Error(`${path} is a file, not a folder.`)
    accessSync(path, constants.R_OK)
  })

/** Reads a small secret file, pipe or descriptor (0: standard input); warns when others than owner and group can read it. */
export const readSecret = (path: string | 0, option: string, limit: number = KEY_LIMITS.fileBytes): string =>
  naming(option, path, () => {
    const descriptor = path === 0 ? path : openSync(path, 'r')
    try {
      const stats = fstatSync(descriptor)
      // Devices (/dev/null, a terminal) are everybody's, and stay so.
      const isChecked = path !== 0 && process.platform !== 'win32' && !stats.isCharacterDevice()
      if (isChecked && (stats.mode & READ_BY_OTHERS) !== 0)
        printWarning(`${option}: every user of this machine can read ${path}. Run: chmod o-r ${path}`)
      return readUpTo(descriptor, limit) ?? refuse(path, limit)
    } finally {
      if (path !== 0) closeSync(descriptor)
    }
  })
const READ_BY_OTHERS = 0o004

/** Returns undefined when there is more. A pipe has no known size before it is read. */
const readUpTo = (descriptor: number, limit: number): string | undefined => {
  const buffer = Buffer.alloc(limit + 1)
  let size = 0
  for (let got = -1; got !== 0 && size <= limit; size += got)
    got = readSync(descriptor, buffer, size, limit + 1 - size, null)
  const text = buffer.toString('utf8', 0, size)
  buffer.fill(0)
  return size <= limit ? text : undefined
}

const refuse = (path: string | 0, limit: number): never => {
  throw new Error(`${path === 0 ? 'The standard input' : path} has more than the ${limit} bytes that are taken.`)
}

/** Creates the data folder if it is missing, and checks that it is writable; errors name the option. */
export const prepareDataDir = (path: string, option = '--datadir'): void =>
  naming(option, path, () => {
    makeFolder(path)
    accessSync(path, constants.W_OK | constants.X_OK)
  })

/** Checks that a file can be read, if it exists, and replaced at the end by a new one in its folder; errors name the option. */
export const checkStateFile = (path: string, option = '--state'): void =>
  naming(option, path, () => {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found?.isFile() === false) throw new Error(`${path} is no file.`)
    if (found !== undefined) accessSync(path, constants.R_OK | constants.W_OK)
    accessSync(dirname(path), constants.W_OK | constants.X_OK)
  })

/** Adds the option to an error about what it names. */
export const naming = <T>(option: string, path: string | 0, work: () => T): T => {
  try {
    return work()
  } catch (error) {
    throw new Error(`${option}: ${whyUnusable(error as NodeJS.ErrnoException, path)}`, { cause: error })
  }
}

const folderText = (path: string | 0): string => `${path} is a folder: name the file in it.`

const whyUnusable = (error: NodeJS.ErrnoException, path: string | 0): string =>
  error.code === 'EISDIR' ? folderText(path) : errorMessage(error)
