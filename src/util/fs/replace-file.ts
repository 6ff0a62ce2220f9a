import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory, writeAndSync } from './fsync.ts'

/** Puts a file with this content in place of `path`, private to the process's user: after a crash the old or the new one is there, whole. */
export const replaceFile = async (path: string, content: string | Uint8Array): Promise<void> => {
  const temporary = `${path}.new`
  await writeAndSync(await open(temporary, 'w', 0o600), content)
  await rename(temporary, path)
  await syncDirectory(dirname(path))
}
