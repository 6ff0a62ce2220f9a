import { asBuffer, type Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { Nonce } from '@tandem/base/uint64.ts'

/** Bytes that are not canonical RLP, or not of the expected shape; `reason` is text a client may see. */
type RlpError = { readonly code: 'RLP_INVALID'; readonly reason: string }

export const rlpError = (reason: string): CodedError<RlpError> => new CodedError({ code: 'RLP_INVALID', reason })

const scratch = new DataView(new ArrayBuffer(8))
const TWO_32 = 0x1_0000_0000

/** Reads RLP item by item, the hot path of blocks. Each read checks canonical form and bounds of its list, and throws RLP_INVALID. */
export class RlpCursor {
  readonly #bytes: Uint8Array
  readonly #buffer: Buffer
  #at: number
  #end: number
  /** Payload of the last item read. */
  #start = 0
  #length = 0

  constructor(bytes: Uint8Array, start = 0, end = bytes.byteLength) {
    this.#bytes = bytes
    this.#buffer = asBuffer(bytes)
    this.#at = start
    this.#end = end
  }

  /** Offset of the next item. */
  get position(): number {
    return this.#at
  }

  hasMore(): boolean {
    return this.#at < this.#end
  }

  /** Reads the next item if it is the empty list; returns true then. */
  takeEmptyList(): boolean {
    if (this.#at >= this.#end || this.#bytes[this.#at] !== 0xc0) return false
    this.#at++
    return true
  }

  nextIsList(): boolean {
    this.#need()
    return (this.#bytes[this.#at] as number) >= 0xc0
  }

  /** Returns the payload length of the next item without reading it. */
  peekLength(): number {
    this.#need()
    this.#header()
    return this.#length
  }

  /** Enters the next item, a list; pass the result to `closeList`. */
  openList(): number {
    this.#need()
    if ((this.#bytes[this.#at] as number) < 0xc0) throw rlpError('rlp: expected List')
    this.#header()
    const outer = this.#end
    this.#at = this.#start
    this.#end = this.#start + this.#length
    return outer
  }

  /** Leaves a list that has been read to its end. */
  closeList(outer: number): void {
    if (this.#at !== this.#end) throw rlpError('rlp: too many elements')
    this.#end = outer
  }

  /** Reads the next item, a list that `read` consumes completely. */
  list<T>(read: (cursor: this) => T): T {
    const outer = this.openList()
    const value = read(this)
    this.closeList(outer)
    return value
  }

  /** Reads a list of at most `limit` items. */
  items<T>(read: (cursor: this) => T, limit = Number.POSITIVE_INFINITY): readonly T[] {
    const outer = this.openList()
    const items: T[] = []
    while (this.hasMore()) {
      if (items.length >= limit) throw rlpError(`a list of more than ${limit} items`)
      items.push(read(this))
    }
    this.closeList(outer)
    return items
  }

  /** Checks that the whole input has been read. */
  finish(): void {
    if (this.#at !== this.#end) throw rlpError('rlp: input contains more than one value')
  }

  /** Reads the next string as a view. */
  bytes(): Uint8Array {
    this.#string()
    return this.#bytes.subarray(this.#start, this.#start + this.#length)
  }

  /** Reads the next string, of `size` bytes if given; returns the offset of its bytes, which end at `position`. */
  offset(size?: number): number {
    this.#string()
    if (size !== undefined && this.#length !== size) throw this.#wrongSize(size)
    return this.#start
  }

  /** Reads the next string of at most `max` bytes. */
  boundedBytes(max: number): Uint8Array {
    const bytes = this.bytes()
    if (bytes.byteLength > max) throw rlpError(`rlp: input string too long, want at most ${max} bytes`)
    return bytes
  }

  /** Reads the next item undecoded, prefix included, as a view; its content is not checked. */
  raw(): Uint8Array {
    const start = this.#at
    this.#need()
    this.#header()
    this.#at = this.#start + this.#length
    return this.#bytes.subarray(start, this.#at)
  }

  /** Skips the next item; its content is not checked. */
  skip(): void {
    this.#need()
    this.#header()
    this.#at = this.#start + this.#length
  }

  /** Reads a string of exactly `size` bytes, as hex. */
  hex(size: number): Hex {
    const start = this.offset(size)
    return `0x${this.#buffer.toString('hex', start, start + size)}`
  }

  /** Like `hex`, with null for the empty string: the recipient of a contract creation. */
  hexOrNull(size: number): Hex | null {
    if (this.#at < this.#end && this.#bytes[this.#at] === 0x80) {
      this.#at++
      return null
    }
    return this.hex(size)
  }

  /** Reads a canonical integer of at most `maxBytes` bytes. */
  uint(maxBytes: number): bigint {
    this.#integer(maxBytes)
    const length = this.#length
    if (length <= 4) return BigInt(this.#number())
    if (length > 8) return BigInt(`0x${this.#buffer.toString('hex', this.#start, this.#start + length)}`)
    return this.#bigint64()
  }

  /** Reads a canonical integer that a number holds exactly. */
  safeUint(): number {
    this.#integer(8)
    const value = this.#number()
    if (value > Number.MAX_SAFE_INTEGER) throw rlpError('rlp: integer too large, want at most 53 bits')
    return value
  }

  /** Reads a nonce: a canonical integer of at most 8 bytes. */
  nonce(): Nonce {
    this.#integer(8)
    const value = this.#number()
    return value <= Number.MAX_SAFE_INTEGER ? value : this.#bigint64()
  }

  /** Reads the bytes of a canonical integer of at most `maxBytes` bytes, as a view. */
  uintBytes(maxBytes: number): Uint8Array {
    this.#integer(maxBytes)
    return this.#bytes.subarray(this.#start, this.#start + this.#length)
  }

  #integer(maxBytes: number): void {
    this.#string()
    if (this.#length > maxBytes) throw rlpError(`rlp: input string too long for uint${maxBytes * 8}`)
    if (this.#length > 0 && this.#bytes[this.#start] === 0)
      throw rlpError('rlp: non-canonical integer (leading zero bytes)')
  }

  #number(): number {
    let value = 0
    for (let i = 0; i < this.#length; i++) value = value * 256 + (this.#bytes[this.#start + i] as number)
    return value
  }

  /** For at most 8 bytes. */
  #bigint64(): bigint {
    scratch.setUint32(0, 0)
    for (let i = 0; i < this.#length; i++) {
      scratch.setUint8(8 - this.#length + i, this.#bytes[this.#start + i] as number)
    }
    return scratch.getBigUint64(0)
  }

  #string(): void {
    this.#need()
    if ((this.#bytes[this.#at] as number) >= 0xc0) throw rlpError('rlp: expected input string or byte')
    this.#header()
    this.#at = this.#start + this.#length
  }

  #wrongSize(size: number): CodedError<RlpError> {
    return rlpError(`rlp: input string too ${this.#length < size ? 'short' : 'long'}, want ${size} bytes`)
  }

  #need(): void {
    if (this.#at >= this.#end) throw rlpError('rlp: too few elements')
  }

  /** Finds the payload of the item at the current position. */
  #header(): void {
    const at = this.#at
    const first = this.#bytes[at] as number
    if (first < 0x80) {
      this.#start = at
      this.#length = 1
      return
    }
    const base = first < 0xc0 ? 0x80 : 0xc0
    const short = first - base
    if (short < 56) {
      this.#start = at + 1
      this.#length = short
    } else {
      this.#length = this.#longLength(at + 1, short - 55)
      this.#start = at + 1 + short - 55
    }
    if (this.#length > this.#end - this.#start) throw rlpError('rlp: value size exceeds available input length')
    if (base === 0x80 && this.#length === 1 && (this.#bytes[this.#start] as number) < 0x80) {
      throw rlpError('rlp: non-canonical size information')
    }
  }

  #longLength(at: number, size: number): number {
    if (at + size > this.#end) throw rlpError('rlp: value size exceeds available input length')
    if (this.#bytes[at] === 0) throw rlpError('rlp: non-canonical size information')
    let length = 0
    // Lengths of more than four bytes exceed any input; the comparison above catches them as numbers.
    for (let i = 0; i < size; i++) length = length * 256 + (this.#bytes[at + i] as number)
    if (length < 56) throw rlpError('rlp: non-canonical size information')
    if (length >= TWO_32) throw rlpError('rlp: value size exceeds available input length')
    return length
  }
}

/** Reads a hash or a word of 32 bytes. Throws RLP_INVALID. */
export const readHex32 = (cursor: RlpCursor): Hex => cursor.hex(32)

/** Reads bytes that `read` consumes completely. Throws RLP_INVALID. */
export const readWhole = <T>(bytes: Uint8Array, read: (cursor: RlpCursor) => T): T => {
  const cursor = new RlpCursor(bytes)
  const value = read(cursor)
  cursor.finish()
  return value
}

/** Reads bytes that are one list and nothing else. Throws RLP_INVALID. */
export const readWholeList = <T>(bytes: Uint8Array, read: (cursor: RlpCursor) => T): T =>
  readWhole(bytes, cursor => cursor.list(read))
