import { EMPTY_BYTES } from '@tandem/base/bytes.ts'

/** Above this end the price of memory exceeds any gas (2^43), and the arithmetic is not exact. */
const MAX_BYTES = 2 ** 31
const FIRST_BYTES = 1024
/** A larger memory is not kept for another frame. */
const KEPT_BYTES = 64 * 1024
/** Limit of all memory kept for frames. */
const IDLE_BYTES = 4 * 1024 * 1024

/** Yellow paper, C_mem. */
const costOf = (words: number): number => words * 3 + Math.floor((words * words) / 512)

/** Memory of one frame. Paid and allocated sizes differ, since gas is charged in between. */
export class Memory {
  bytes = new Uint8Array(FIRST_BYTES)
  view: DataView = viewOf(this.bytes)
  /** Words paid for. */
  words = 0
  /** Bytes that may be non-zero. */
  #used = 0

  /** Returns the gas of growing to the end of a range; Infinity when unpayable. */
  price(offset: bigint, length: bigint): number {
    if (length === 0n) return 0
    const end = Number(offset) + Number(length)
    if (end > MAX_BYTES) return Number.POSITIVE_INFINITY
    const words = Math.ceil(end / 32)
    if (words <= this.words) return 0
    const added = costOf(words) - costOf(this.words)
    this.words = words
    return added
  }

  /** Allocates up to a paid end, doubling. */
  reach(end: number): void {
    if (end <= this.#used) return
    this.#used = end
    if (end <= this.bytes.byteLength) return
    const grown = new Uint8Array(Math.max(Math.ceil(end / 32) * 32, this.bytes.byteLength * 2))
    grown.set(this.bytes)
    this.bytes = grown
    this.view = viewOf(grown)
  }

  /** Returns a view, which later writes change. */
  slice(offset: bigint, length: bigint): Uint8Array {
    if (length === 0n) return EMPTY_BYTES
    const at = Number(offset)
    const end = at + Number(length)
    this.reach(end)
    return this.bytes.subarray(at, end)
  }

  copy(offset: bigint, length: bigint): Uint8Array {
    return length === 0n ? EMPTY_BYTES : this.slice(offset, length).slice()
  }

  /** Writes `length` bytes of a source from `from` on; missing bytes are zero. */
  write(at: number, source: Uint8Array, from: number, length: number): void {
    this.reach(at + length)
    const given = from >= source.byteLength ? 0 : Math.min(length, source.byteLength - from)
    if (given > 0) this.bytes.set(source.subarray(from, from + given), at)
    if (given < length) this.bytes.fill(0, at + given, at + length)
  }

  /** Resets it for reuse. */
  clear(): void {
    this.bytes.fill(0, 0, this.#used)
    this.words = 0
    this.#used = 0
  }
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

/** Stack and memory of a frame: one per frame under way, reused by later frames. Stack items beyond the height are invalid. */
export interface Workspace {
  readonly stack: bigint[]
  readonly memory: Memory
}

export class Workspaces {
  readonly #idle: Workspace[] = []
  #idleBytes = 0

  take(): Workspace {
    const found = this.#idle.pop()
    if (found === undefined) return { stack: [], memory: new Memory() }
    this.#idleBytes -= found.memory.bytes.byteLength
    return found
  }

  /** Large ones are not kept: their allocation was paid for. */
  releaseMachine(workspace: Workspace): void {
    const { memory } = workspace
    const size = memory.bytes.byteLength
    if (size > KEPT_BYTES || this.#idleBytes + size > IDLE_BYTES) return
    memory.clear()
    this.#idleBytes += size
    this.#idle.push(workspace)
  }
}
