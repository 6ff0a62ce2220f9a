import type { DurableFile, FileSystem } from '../../../src/consensus/wal/file-system.ts'

class Crash extends Error {}

interface Pending {
  readonly path: string
  readonly bytes: Uint8Array
  readonly position: number
}

/**
 * Files in memory with a disk's manners: what was not synced may be lost at a crash, in any part. A crash can be ordered at the
 * n-th operation from now; from then on nothing works until `recover`.
 */
export class MemoryFiles implements FileSystem {
  readonly #durable = new Map<string, Uint8Array>()
  #pending: Pending[] = []
  #operations = 0
  #crashAt = Number.POSITIVE_INFINITY
  #dead = false
  /** Operations so far, and syncs among them. */
  syncs = 0
  /** Waited for in every sync. */
  slowness: () => Promise<void> = async () => {}

  get operations(): number {
    return this.#operations
  }

  crashAt(operation: number): void {
    this.#crashAt = operation
  }

  crashNow(): void {
    this.#dead = true
  }

  /** After a crash: a byte range of each unsynced write survives as `survives` says; default none of it. */
  recover(survives: (bytes: Uint8Array) => Uint8Array = () => new Uint8Array(0)): void {
    for (const { path, bytes, position } of this.#pending) this.#apply(path, survives(bytes), position)
    this.#pending = []
    this.#dead = false
    this.#crashAt = Number.POSITIVE_INFINITY
  }

  content(path: string): Uint8Array | undefined {
    return this.#durable.get(path)?.slice()
  }

  put(path: string, content: Uint8Array): void {
    this.#durable.set(path, content.slice())
  }

  delete(path: string): void {
    this.#durable.delete(path)
  }

  copy(): MemoryFiles {
    const copy = new MemoryFiles()
    for (const [path, content] of this.#durable) copy.put(path, content)
    return copy
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    this.#operate()
    return this.content(path)
  }

  async open(path: string): Promise<DurableFile> {
    this.#operate()
    if (!this.#durable.has(path)) this.#durable.set(path, new Uint8Array(0))
    return {
      write: (bytes, position) => {
        this.#operate()
        this.#pending.push({ path, bytes: bytes.slice(), position })
      },
      sync: async () => {
        this.#operate()
        this.syncs++
        await this.slowness()
        for (const write of this.#pending) if (write.path === path) this.#apply(path, write.bytes, write.position)
        this.#pending = this.#pending.filter(write => write.path !== path)
      },
      close: async () => {},
    }
  }

  async replace(path: string, content: Uint8Array): Promise<void> {
    this.#operate()
    this.#durable.set(path, content.slice())
  }

  #operate(): void {
    if (this.#dead || ++this.#operations >= this.#crashAt) {
      this.#dead = true
      throw new Crash('the machine is off')
    }
  }

  #apply(path: string, bytes: Uint8Array, position: number): void {
    const old = this.#durable.get(path) ?? new Uint8Array(0)
    if (position + bytes.byteLength <= old.byteLength) {
      old.set(bytes, position)
      return
    }
    const grown = new Uint8Array(Math.max(old.byteLength, position + bytes.byteLength))
    grown.set(old)
    grown.set(bytes, position)
    this.#durable.set(path, grown)
  }
}
