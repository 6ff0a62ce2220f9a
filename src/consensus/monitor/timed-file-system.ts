import type { DurableFile, FileSystem } from '../wal/file-system.ts'

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
