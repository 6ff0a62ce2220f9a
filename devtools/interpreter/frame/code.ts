import { bytesToBigint } from '@tandem/base/bytes.ts'
import { readWord } from '../words.ts'

/** Number of wide pushes executed after which their values are cached. */
const PUSHES_BEFORE_CACHE = 256

/** Code with its analysis, computed on demand and once. */
export class Code {
  readonly bytes: Uint8Array
  #jumps: Uint8Array | undefined = undefined
  #pushes: (bigint | undefined)[] | undefined = undefined
  #widePushes = 0
  #view: DataView | undefined = undefined

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** 1 at each JUMPDEST outside push data. */
  get jumps(): Uint8Array {
    this.#jumps ??= findJumps(this.bytes)
    return this.#jumps
  }

  /** Returns the value of a PUSH whose data begins here; data past the end of the code is zero. */
  push(at: number, size: number): bigint {
    const known = this.#pushes?.[at]
    if (known !== undefined) return known
    const value = this.#readPush(at, size)
    if (++this.#widePushes > PUSHES_BEFORE_CACHE) {
      this.#pushes ??= new Array(this.bytes.byteLength)
      this.#pushes[at] = value
    }
    return value
  }

  #readPush(at: number, size: number): bigint {
    const { bytes } = this
    const end = at + size
    if (end >= 32 && end <= bytes.byteLength) {
      this.#view ??= new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      return BigInt.asUintN(8 * size, readWord(this.#view, end - 32))
    }
    const given = bytes.subarray(at, end)
    return bytesToBigint(given) << BigInt(8 * (size - given.byteLength))
  }
}

const findJumps = (code: Uint8Array): Uint8Array => {
  const jumps = new Uint8Array(code.byteLength)
  for (let at = 0; at < code.byteLength; at++) {
    const op = code[at] as number
    if (op === 0x5b) jumps[at] = 1
    else if (op >= 0x60 && op <= 0x7f) at += op - 0x5f
  }
  return jumps
}

/** Keyed by identity: the state returns one array per code as long as its cache keeps it. */
const known = new WeakMap<Uint8Array, Code>()

/** Returns the analysed code of an account. */
export const codeOf = (bytes: Uint8Array): Code => {
  let found = known.get(bytes)
  if (found === undefined) {
    found = new Code(bytes)
    known.set(bytes, found)
  }
  return found
}
