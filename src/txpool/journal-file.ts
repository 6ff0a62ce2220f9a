import { constants } from 'node:fs'
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory } from '@tandem/base/fs/fsync.ts'
import { ifMissing } from '@tandem/base/fs/if-missing.ts'

/** Storage of a journal. A resolved operation is on disk; a rejected one may be there in part. */
export interface JournalStorage {
  /** Returns the whole file; empty when there is none. */
  read(): Promise<Uint8Array>
  append(bytes: Uint8Array): Promise<void>
  /** Replaces the file atomically; returns the length in bytes. */
  replace(parts: Iterable<Uint8Array>): Promise<number>
  close(): Promise<void>
}

/** Linux syncs with the write, one operation and no turn between. Elsewhere the flag leaves bytes in the disk's cache, or is missing. */
const SYNCS_ON_WRITE = process.platform === 'linux'
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (SYNCS_ON_WRITE ? constants.O_DSYNC : 0)

export const createJournalFile = (path: string): JournalStorage => {
  const temporary = `${path}.new`
  let handle: FileHandle | undefined

  const close = async (): Promise<void> => {
    const closing = handle
    handle = undefined
    await closing?.close()
  }

  return {
    close,

    async read() {
      await rm(temporary, { force: true })
      return readFile(path).catch(ifMissing(new Uint8Array(0)))
    },

    async append(bytes) {
      handle ??= await open(path, APPEND, 0o600)
      await writeAll(handle, bytes)
      if (!SYNCS_ON_WRITE) await handle.datasync()
    },

    async replace(parts) {
      await close()
      let size = 0
      {
        await using file = await open(temporary, 'w', 0o600)
        for (const part of parts) {
          await writeAll(file, part)
          size += part.byteLength
        }
        await file.sync()
      }
      await rename(temporary, path)
      await syncDirectory(dirname(path))
      return size
    },
  }
}

const writeAll = async (file: FileHandle, bytes: Uint8Array): Promise<void> => {
  for (let at = 0; at < bytes.byteLength; ) at += (await file.write(bytes, at)).bytesWritten
}
