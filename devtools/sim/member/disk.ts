import { asBuffer } from '@tandem/base/bytes.ts'
import type { Random } from '@tandem/base/random.ts'
import type { DurableFile, FileSystem } from '../../../src/consensus/wal/file-system.ts'
import { delayOn, type Host, never } from './host.ts'

interface Write {
  readonly path: string
  readonly bytes: Uint8Array
  readonly position: number
}

const SLOWEST_SYNC_MS = 12

/** Returns the duration of a sync: mostly a fraction of the slowest. */
export const syncMs = (random: Random): number => 0.1 + random.next() ** 4 * SLOWEST_SYNC_MS

/** Disk of a node, which outlives the process. Unsynced data may be lost at a crash, in any part, in any order. */
export class Disk {
  readonly #files = new Map<string, Uint8Array>()
  #pending: readonly Write[] = []
  readonly #random: Random
  #foundAt = 0
  syncs = 0

  constructor(random: Random) {
    this.#random = random
  }

  /** Opens the disk for one process. */
  open(host: Host): FileSystem {
    return {
      read: async path => (host.isDead ? never() : this.#files.get(path)?.slice()),
      open: async path => (host.isDead ? never() : this.#open(path, host)),
      replace: async (path, content) => {
        if (!host.reaches('before a write')) return never()
        this.#files.set(path, content.slice())
        return host.reaches('after a sync') ? undefined : never()
      },
    }
  }

  /** Simulates a power failure: of each unsynced write all, nothing or a beginning remains. */
  tear(): void {
    for (const write of this.#pending) {
      const kept = this.#random.pick([0, write.bytes.byteLength, this.#random.below(write.bytes.byteLength + 1)])
      this.#apply({ ...write, bytes: write.bytes.subarray(0, kept) })
    }
    this.#pending = []
  }

  delete(path: string): void {
    this.#files.delete(path)
  }

  /**
   * Returns true when these bytes are in a file and survive a crash. They usually follow those of the previous call.
   */
  holds(path: string, bytes: Uint8Array): boolean {
    const content = asBuffer(this.#files.get(path) ?? new Uint8Array(0))
    let at = content.indexOf(bytes, this.#foundAt)
    if (at < 0) at = content.indexOf(bytes)
    if (at >= 0) this.#foundAt = at
    return at >= 0
  }

  #open(path: string, host: Host): DurableFile {
    if (!this.#files.has(path)) this.#files.set(path, new Uint8Array(0))
    return {
      write: (bytes, position) => {
        if (!host.reaches('before a write')) return
        // Not copied: log and watermark pass on the buffers they write.
        this.#pending = [...this.#pending, { path, bytes, position }]
        host.reaches('after a write')
      },
      sync: async () => {
        if (host.isDead) return never()
        const written = new Set(this.#pending.filter(write => write.path === path))
        await delayOn(host, syncMs(this.#random))
        for (const write of written) this.#apply(write)
        this.#pending = this.#pending.filter(write => !written.has(write))
        this.syncs++
        if (!host.reaches('after a sync')) return never()
      },
      close: async () => {},
    }
  }

  #apply({ path, bytes, position }: Write): void {
    const old = this.#files.get(path) ?? new Uint8Array(0)
    const end = position + bytes.byteLength
    if (end <= old.byteLength) {
      old.set(bytes, position)
      return
    }
    const grown = new Uint8Array(end)
    grown.set(old)
    grown.set(bytes, position)
    this.#files.set(path, grown)
  }
}
