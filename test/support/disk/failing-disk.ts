import { spawnSync } from 'node:child_process'
import { mkdtempSync, openSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'

/*
 * A disk that fails at a chosen operation, for a program that is told by its environment (failing-disk.c). Nothing is mounted: it works without
 * privileges, wherever there is a compiler for C.
 */

export type DiskError = 'ENOSPC' | 'EIO' | 'EROFS'

/** Reason why there is none here; undefined: there is one. */
export const whyNoFailingDisk = (): string | undefined => {
  if (process.platform !== 'linux') return 'only on Linux'
  return spawnSync('cc', ['--version']).status === 0 ? undefined : 'no compiler for C (cc)'
}

const WORD = 8
const WORDS = ['seen', 'first', 'count', 'error', 'failed'] as const

/** Faults of the disk below one folder, for the programs started with its environment. */
export class FailingDisk {
  readonly #dir: string
  readonly #control: number
  readonly env: Readonly<Record<string, string>>

  constructor(folder: string) {
    this.#dir = mkdtempSync(join(tmpdir(), 'tandem-failing-'))
    const library = join(this.#dir, 'failing-disk.so')
    const source = new URL('./failing-disk.c', import.meta.url).pathname
    const { status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'])
    if (status !== 0) throw new Error(`failing-disk.c: ${stderr}`)
    const control = join(this.#dir, 'control')
    writeFileSync(control, Buffer.alloc(WORDS.length * WORD))
    this.#control = openSync(control, 'r+')
    this.env = { LD_PRELOAD: library, FAILING_DISK_FOLDER: folder, FAILING_DISK_CONTROL: control }
  }

  /** Number of operations so far. */
  get seen(): number {
    return this.#read('seen')
  }

  /** Number of operations that have failed. */
  get failed(): number {
    return this.#read('failed')
  }

  /** The operation after `skipped` others fails, and as many as `count` says with it: all by default. */
  fail(error: DiskError, skipped: number, count = 0): void {
    this.#write('error', constants.errno[error])
    this.#write('count', count)
    this.#write('failed', 0)
    this.#write('first', this.seen + 1 + skipped)
  }

  /** The disk works again. */
  mend(): void {
    this.#write('first', 0)
  }

  remove(): void {
    rmSync(this.#dir, { recursive: true, force: true })
  }

  #read(word: (typeof WORDS)[number]): number {
    const bytes = Buffer.alloc(WORD)
    readSync(this.#control, bytes, 0, WORD, WORDS.indexOf(word) * WORD)
    return Number(bytes.readBigInt64LE())
  }

  #write(word: (typeof WORDS)[number], value: number): void {
    const bytes = Buffer.alloc(WORD)
    bytes.writeBigInt64LE(BigInt(value))
    writeSync(this.#control, bytes, 0, WORD, WORDS.indexOf(word) * WORD)
  }
}
