import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Puts a file with this content in place of `path`, private to the process's user: after a crash the old or the new one is there, whole. */
export const replaceFile = async (path: string, content: string | Uint8Array): Promise<void> => {
  const temporary = `${path}.new`
  const handle = await open(temporary, 'w', 0o600)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, path)
  await syncFolder(dirname(path))
}

/** A new or changed name is only durable when its folder is. */
export const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
