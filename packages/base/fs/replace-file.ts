import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory, writeAndSync } from './fsync.ts'

/**
 * Replaces `path` atomically, private to the process's user: after a crash either the old or the new content is there,
 * complete.
 */
export const replaceFile = async (path: string, content: string | Uint8Array): Promise<void> => {
  const temporary = `${path}.new`
  await writeAndSync(await open(temporary, 'w', 0o600), content)
  await rename(temporary, path)
  await syncDirectory(dirname(path))
}
