import { randomUUID } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Bit of a folder to which everybody adds files, as /tmp, but where nobody replaces those of others. */
const STICKY = 0o1000

/**
 * Returns the path of a file that has the content and that no other user can change: in the folder `beside`, unless it is one of everybody,
 * or written to a folder of this user alone below that of temporary files. The name must change with the content.
 */
export const privateFile = (name: string, content: Buffer, beside: string): string => {
  const isThere = (path: string): boolean => {
    try {
      return readFileSync(path).equals(content)
    } catch {
      return false
    }
  }
  if ((statSync(beside).mode & STICKY) === 0 && isThere(join(beside, name))) return join(beside, name)
  const user = process.getuid?.()
  const folder = join(tmpdir(), `tandem-${user}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { uid, mode } = lstatSync(folder)
  if (uid !== user || (mode & 0o777) !== 0o700)
    throw new Error(`${folder} is no folder of this user alone: remove it, or set TMPDIR to another folder`)
  const file = join(folder, name)
  if (isThere(file)) return file
  // Threads, and processes of other containers, write at the same time, and may have the same id.
  const written = `${file}.${randomUUID()}`
  try {
    writeFileSync(written, content, { mode: 0o600, flag: 'wx' })
    renameSync(written, file)
  } catch (error) {
    rmSync(written, { force: true })
    throw new Error(`${file} cannot be written: ${(error as Error).message}. Set TMPDIR to another folder.`)
  }
  return file
}
