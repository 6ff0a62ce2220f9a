import { threadId } from 'node:worker_threads'
import { Mutex } from '@tandem/base/async/mutex.ts'

/** Words of the shared memory, before the reason: 1 after a failed write, the thread that writes (its id + 1), 1 before the database is on disk. */
const [FAILED, WRITER, ELSEWHERE] = [0, 1, 2]
const REASON_AT = 16
const REASON_LENGTH = 3
const MEMORY_BYTES = 1_024
const ALIVE_MS = 60_000

interface WriteLatchOptions {
  /** Memory of the latch that another thread has for the same database; a new one by default. */
  readonly memory?: SharedArrayBuffer
  /** The database is not on disk until `arrived`. */
  readonly isElsewhere?: boolean
  /** Called once for the first failed write of any thread. */
  readonly onFailed?: (reason: string) => void
}

const wordsOf = (memory: SharedArrayBuffer): Int32Array =>
  new Int32Array(memory, 0, REASON_AT / Int32Array.BYTES_PER_ELEMENT)

/** Resolves when a word no longer has this value. Nothing else may keep this thread from ending: a wait alone does not. */
const changeOf = async (words: Int32Array, index: number, value: number): Promise<void> => {
  const alive = setInterval(() => {}, ALIVE_MS)
  await Atomics.waitAsync(words, index, value).value
  clearInterval(alive)
}

/**
 * Lets the writes of a database through one at a time, those of all threads together, until the first that fails: it is the last. LevelDB
 * would go on at a wrong place of its log, and what it acknowledges from then on is not there at the next start
 * (docs/design/storage.md#failed-writes).
 */
export class WriteLatch {
  /** Given to the latches of other threads. */
  readonly memory: SharedArrayBuffer
  readonly #words: Int32Array
  readonly #mutex = new Mutex()
  #isClosed = false

  constructor({ memory = new SharedArrayBuffer(MEMORY_BYTES), isElsewhere = false, onFailed }: WriteLatchOptions = {}) {
    this.memory = memory
    this.#words = wordsOf(memory)
    if (isElsewhere) Atomics.store(this.#words, ELSEWHERE, 1)
    if (onFailed !== undefined) void this.#watch(onFailed)
  }

  /** Resolves when the database of a latch is on disk; never, when that has failed. */
  static async isHere(memory: SharedArrayBuffer): Promise<void> {
    await changeOf(wordsOf(memory), ELSEWHERE, 1)
  }

  /** The database is on disk: threads that wait for it open it. */
  arrived(): void {
    Atomics.store(this.#words, ELSEWHERE, 0)
    Atomics.notify(this.#words, ELSEWHERE)
  }

  /** Reason of the first failed write; undefined: none has failed. */
  get failure(): string | undefined {
    if (Atomics.load(this.#words, FAILED) === 0) return undefined
    return Buffer.from(this.memory, REASON_AT, Atomics.load(this.#words, REASON_LENGTH)).toString()
  }

  /** Runs a write when those before it are over; throws without running it after a failed one. */
  write(work: () => Promise<void>): Promise<void> {
    return this.#mutex.run(async () => {
      await this.#begin()
      try {
        await this.sync(work)
      } finally {
        this.#release()
      }
    })
  }

  /** Runs what adds nothing, such as a sync of earlier writes, at once: its failure counts as that of a write. */
  async sync(work: () => Promise<void>): Promise<void> {
    const { failure } = this
    if (failure !== undefined) throw new Error(failure)
    try {
      await work()
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error))
      throw error
    }
  }

  /** Called when a thread that shares the memory has ended by itself. */
  abandon(): void {
    const writer = Atomics.load(this.#words, WRITER)
    if (writer === 0 || writer === threadId + 1) return
    this.#fail('a thread ended during a write')
    this.#release()
  }

  /** No failure is reported from now on. */
  close(): void {
    this.#isClosed = true
    Atomics.notify(this.#words, FAILED)
  }

  async #watch(onFailed: (reason: string) => void): Promise<void> {
    // The close of another thread's latch wakes this one too.
    while (this.failure === undefined && !this.#isClosed) await Atomics.waitAsync(this.#words, FAILED, 0).value
    const { failure } = this
    if (failure !== undefined && !this.#isClosed) onFailed(failure)
  }

  async #begin(): Promise<void> {
    for (;;) {
      const writer = Atomics.compareExchange(this.#words, WRITER, 0, threadId + 1)
      if (writer === 0) return
      await changeOf(this.#words, WRITER, writer)
    }
  }

  #release(): void {
    Atomics.store(this.#words, WRITER, 0)
    Atomics.notify(this.#words, WRITER, 1)
  }

  #fail(reason: string): void {
    // The first one alone: what follows from it explains nothing.
    if (Atomics.load(this.#words, FAILED) !== 0) return
    Atomics.store(this.#words, REASON_LENGTH, Buffer.from(this.memory, REASON_AT).write(reason))
    Atomics.store(this.#words, FAILED, 1)
    Atomics.notify(this.#words, FAILED)
  }
}
