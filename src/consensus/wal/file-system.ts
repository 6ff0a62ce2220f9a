import fs, { constants } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory } from '../../util/fs/fsync.ts'
import { replaceFile } from '../../util/fs/replace-file.ts'

/** The few file operations that the log and the watermark need, so that a test can crash at each of them. */
export interface FileSystem {
  /** Whole content; undefined when there is no such file. */
  read(path: string): Promise<Uint8Array | undefined>
  /** Opens for writing, creates when missing (then the directory entry is durable too). */
  open(path: string): Promise<DurableFile>
  /** Puts a file with this content in place of `path`: after a crash either the old or the new one is there, whole. */
  replace(path: string, content: Uint8Array): Promise<void>
}

export interface DurableFile {
  /** Reaches the disk at the next `sync`, or at any moment before, in any order, in part. */
  write(bytes: Uint8Array, position: number): void
  /** What was written before is durable when this resolves. */
  sync(): Promise<void>
  close(): Promise<void>
}

/** The file system of the machine. Files are private to the process's user. */
export const nodeFileSystem: FileSystem = {
  async read(path) {
    try {
      return new Uint8Array(await readFile(path))
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
      throw error
    }
  },
  async open(path) {
    const handle = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600)
    await syncDirectory(dirname(path))
    return {
      // Into the page cache: microseconds, so no round trip through the thread pool; the disk is waited for in `sync`.
      write(bytes, position) {
        for (let done = 0; done < bytes.byteLength; ) {
          done += fs.writeSync(handle.fd, bytes, done, bytes.byteLength - done, position + done)
        }
      },
      sync: () =>
        new Promise((resolve, reject) => fs.fdatasync(handle.fd, error => (error ? reject(error) : resolve()))),
      close: () => handle.close(),
    }
  },
  replace: replaceFile,
}
