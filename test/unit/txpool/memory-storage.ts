import { concatBytes } from '@tandem/base/bytes.ts'
import type { JournalStorage } from '../../../src/txpool/journal-file.ts'

/** A journal's file in memory. It can fail at a chosen call, leaving half of what that call had to write, and hold writes back. */
export class MemoryStorage implements JournalStorage {
  file: Uint8Array = new Uint8Array(0)
  appends = 0
  replaces = 0
  closed = false
  /** Counts down over appends and replaces; the call that reaches zero fails. */
  failIn = 0
  /** Awaited before each write. */
  gate: Promise<void> = Promise.resolve()

  async read(): Promise<Uint8Array> {
    return this.file
  }

  async append(bytes: Uint8Array): Promise<void> {
    this.appends++
    await this.gate
    if (--this.failIn === 0) {
      this.file = concatBytes(this.file, bytes.subarray(0, bytes.byteLength >> 1))
      throw new Error('disk full')
    }
    this.file = concatBytes(this.file, bytes)
  }

  async replace(parts: Iterable<Uint8Array>): Promise<number> {
    this.replaces++
    await this.gate
    const file = concatBytes(...parts)
    if (--this.failIn === 0) throw new Error('disk full')
    this.file = file
    return file.byteLength
  }

  async close(): Promise<void> {
    this.closed = true
  }
}
