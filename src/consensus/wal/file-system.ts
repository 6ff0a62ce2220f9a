import fs, { constants } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory } from '@tandem/base/fs/fsync.ts'
import { ifMissing } from '@tandem/base/fs/if-missing.ts'
import { replaceFile } from '@tandem/base/fs/replace-file.ts'

/** Wraps a file system and times each sync, which every vote waits for. */
export const timedFileSystem = (files: FileSystem, onSync: (seconds: number) => void): FileSystem => ({
  read: path => files.read(path),
  open: async path => timed(await files.open(path), onSync),
  replace: (path, content) => files.replace(path, content),
})

const timed = (file: DurableFile, onSync: (seconds: number) => void): DurableFile => ({
  write: (bytes, position) => file.write(bytes, position),
  async sync() {
    const began = performance.now()
    await file.sync()
    onSync((performance.now() - began) / 1_000)
  },
  close: () => file.close(),
})

/** File operations of the log and the watermark, so that a test can crash at each of them. */
export interface FileSystem {
  /** Whole content; undefined when the file does not exist. */
  read(path: string): Promise<Uint8Array | undefined>
  /** Opens for writing; creates the file when missing (then the directory entry is durable too). */
  open(path: string): Promise<DurableFile>
  /** Replaces `path` atomically: after a crash either the old or the new content is there, complete. */
  replace(path: string, content: Uint8Array): Promise<void>
}

export interface DurableFile {
  /** Reaches the disk by the next `sync`; before that at any moment, in any order, in part. */
  write(bytes: Uint8Array, position: number): void
  /** Resolves when all earlier writes are durable. */
  sync(): Promise<void>
  close(): Promise<void>
}

/** File system of the machine. Files are private to the process's user. */
export const nodeFileSystem: FileSystem = {
  async read(path) {
    const bytes = await readFile(path).catch(ifMissing(undefined))
    return bytes && new Uint8Array(bytes)
  },
  async open(path) {
    const handle = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600)
    await syncDirectory(dirname(path))
    return {
      // Writes into the page cache take microseconds, so they are synchronous; `sync` waits for the disk.
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
