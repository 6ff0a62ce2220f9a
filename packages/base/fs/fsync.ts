import { type FileHandle, open } from 'node:fs/promises'

/** Writes the whole content to an open file, syncs it, and closes it in any case. */
export const writeAndSync = async (handle: FileHandle, content: string | Uint8Array): Promise<void> => {
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Syncs a folder: a new or changed name is only durable when its folder is. */
export const syncDirectory = async (path: string): Promise<void> => {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
