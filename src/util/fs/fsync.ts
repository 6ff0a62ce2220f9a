import { type FileHandle, open } from 'node:fs/promises'

/** Writes all of a file that was opened for it, waits for the disk, and closes it, come what may. */
export const writeAndSync = async (handle: FileHandle, content: string | Uint8Array): Promise<void> => {
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A new or changed name is only durable when its folder is. */
export const syncDirectory = async (path: string): Promise<void> => {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
