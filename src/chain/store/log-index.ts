import { assert } from '@tandem/base/assert.ts'
import { asBuffer, EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { keccak256 } from '../../crypto/hash.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { NUMBER_BYTES, readNumber, writeNumber } from '../../storage/keys.ts'
import { metaKey } from '../../storage/schema.ts'
import type { Snapshot, Store } from '../../storage/store.ts'

/*
 * Places of the logs that have an item: an address, or a topic at its position. A row's key is the range's id (4 bytes), the item's hash
 * (8) and the row's ordinal (3): a list of more than `ROW_BYTES` has several. A value is the ordinal of the list's last row (in the first row
 * alone), and for each block with such logs the blocks since the one before (in each row's first, since the range's start), twice, plus 1
 * when there are several logs; their number when there are several; the logs' indexes in the block, each less the one before. All are
 * LEB128.
 */
const HASH_AT = 4
const HASH_BYTES = 8
const ORDINAL_AT = HASH_AT + HASH_BYTES
const KEY_BYTES = ORDINAL_AT + 3
const ROW_BYTES = 4_096

/** Block number and index of a log as one number: a block has fewer logs than this. */
const LOGS = 2 ** 21
export const placeOf = (block: number, log: number): number => block * LOGS + log
export const blockOf = (place: number): number => Math.floor(place / LOGS)
export const logOf = (place: number): number => place % LOGS

export const postingsKey = (id: number, hash: Uint8Array, ordinal = 0): Uint8Array => {
  const key = Buffer.allocUnsafe(KEY_BYTES)
  key.writeUInt32BE(id)
  key.set(hash, HASH_AT)
  key.writeUIntBE(ordinal, ORDINAL_AT, 3)
  return key
}

/** Returns the start of the keys of a range. */
export const postingsOf = (id: number): Uint8Array => {
  const key = Buffer.allocUnsafe(HASH_AT)
  key.writeUInt32BE(id)
  return key
}

export const readPostingsKey = (key: Uint8Array): { id: number; hash: Uint8Array; ordinal: number } => ({
  id: asBuffer(key).readUInt32BE(),
  hash: key.subarray(HASH_AT, ORDINAL_AT),
  ordinal: asBuffer(key).readUIntBE(ORDINAL_AT, 3),
})

/** Item of the first log of each block. */
export const EVERY_ITEM = keccak256(EMPTY_BYTES).subarray(0, HASH_BYTES)

const [addressInput, topicInput] = [new Uint8Array(21), new Uint8Array(33)]

/** Returns the hash of an address (kind 0) or of a topic (kind 1 plus its position). Others that share it are told apart by the logs. */
export const itemHash = (kind: number, bytes: Uint8Array): Uint8Array => {
  const input = bytes.byteLength === 20 ? addressInput : topicInput
  input[0] = kind
  input.set(bytes, 1)
  return keccak256(input).subarray(0, HASH_BYTES)
}

/** Encodes the lists of a range, one item after the other. */
export class PostingsWriter {
  readonly #id: number
  readonly #from: number
  readonly #put: (key: Uint8Array, value: Uint8Array) => void
  #hash = EMPTY_BYTES
  /** The list's first row, until the number of its rows is known. */
  #first: number[] | undefined
  #row: number[] = []
  #ordinal = 0
  /** Block that the next one is encoded against. */
  #before: number
  #block = -1
  #logs: number[] = []

  constructor(id: number, from: number, put: (key: Uint8Array, value: Uint8Array) => void) {
    this.#id = id
    this.#from = from
    this.#before = from
    this.#put = put
  }

  begin(hash: Uint8Array): void {
    this.#hash = Uint8Array.from(hash)
    this.#first = undefined
    this.#row = []
    this.#ordinal = 0
    this.#before = this.#from
    this.#block = -1
    this.#logs = []
  }

  /** Adds a place; they ascend. */
  add(block: number, log: number): void {
    if (block !== this.#block) {
      this.#endBlock()
      this.#block = block
    }
    this.#logs.push(log)
  }

  end(): void {
    this.#endBlock()
    if (this.#row.length === 0) return
    if (this.#ordinal > 0) this.#putRow(this.#ordinal, this.#row)
    const last: number[] = []
    writeVarint(last, this.#ordinal)
    this.#putRow(0, last.concat(this.#first ?? this.#row))
  }

  #endBlock(): void {
    const { length } = this.#logs
    if (length === 0) return
    if (this.#row.length >= ROW_BYTES) {
      if (this.#ordinal === 0) this.#first = this.#row
      else this.#putRow(this.#ordinal, this.#row)
      this.#ordinal++
      this.#row = []
      this.#before = this.#from
    }
    writeVarint(this.#row, 2 * (this.#block - this.#before) + (length > 1 ? 1 : 0))
    if (length > 1) writeVarint(this.#row, length)
    let before = 0
    for (const log of this.#logs) {
      writeVarint(this.#row, log - before)
      before = log
    }
    this.#before = this.#block
    this.#logs = []
  }

  #putRow(ordinal: number, bytes: readonly number[]): void {
    this.#put(postingsKey(this.#id, this.#hash, ordinal), Uint8Array.from(bytes))
  }
}

const writeVarint = (out: number[], value: number): void => {
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.push((rest % 0x80) + 0x80)
  out.push(rest)
}

/** Reads the places of one row, ascending. */
export class PostingsRow {
  /** Ordinal of the list's last row; of the first row only. */
  readonly last: number
  readonly #row: Uint8Array
  #at = 0
  #block: number
  #log = 0
  #left = 0

  constructor(row: Uint8Array, ordinal: number, from: number) {
    this.#row = row
    this.#block = from
    this.last = ordinal === 0 ? this.#varint() : 0
  }

  /** Returns the next place; undefined after the last. */
  next(): number | undefined {
    if (this.#left === 0) {
      if (this.#at >= this.#row.byteLength) return undefined
      const head = this.#varint()
      this.#block += Math.floor(head / 2)
      this.#left = head % 2 === 0 ? 1 : this.#varint()
      this.#log = 0
    }
    this.#left--
    this.#log += this.#varint()
    return placeOf(this.#block, this.#log)
  }

  #varint(): number {
    let value = 0
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.#row[this.#at++]
      assert(byte !== undefined, 'a row of the log index is whole')
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
  }
}

/** Reader of one list of a range, which moves ahead only. */
export class Postings {
  /** Current place; infinite behind the last. */
  at = -1
  readonly #from: number
  readonly #last: number
  readonly #load: (ordinal: number) => Promise<Uint8Array>
  #row: PostingsRow
  #ordinal = 0

  /** `first`: the list's first row; `from`: the range's first block. */
  constructor(first: Uint8Array, from: number, load: (ordinal: number) => Promise<Uint8Array>) {
    this.#from = from
    this.#load = load
    this.#row = new PostingsRow(first, 0, from)
    this.#last = this.#row.last
  }

  /** Moves to the first place at or behind `target`; a promise when rows are read. */
  seek(target: number): Promise<void> | undefined {
    this.#skip(target)
    return this.at < target ? this.#seekRow(target) : undefined
  }

  /** Moves ahead in the row. */
  #skip(target: number): void {
    for (let next: number | undefined; this.at < target; this.at = next) {
      next = this.#row.next()
      if (next === undefined) return
    }
  }

  /** Most readers go on in the next row; the others search for theirs. */
  async #seekRow(target: number): Promise<void> {
    for (let ordinal = this.#ordinal + 1; ordinal <= this.#last; ordinal = await this.#lastBefore(target)) {
      this.#row = await this.#read(ordinal)
      this.#ordinal = ordinal
      this.#skip(target)
      if (this.at >= target) return
    }
    this.at = Number.POSITIVE_INFINITY
  }

  /** Returns the last of the later rows that begins at or before the target; the next one when none does. */
  async #lastBefore(target: number): Promise<number> {
    let low = this.#ordinal + 1
    for (let high = this.#last; low < high; ) {
      const middle = Math.ceil((low + high) / 2)
      const first = (await this.#read(middle)).next()
      if (first !== undefined && first <= target) low = middle
      else high = middle - 1
    }
    return low
  }

  async #read(ordinal: number): Promise<PostingsRow> {
    return new PostingsRow(await this.#load(ordinal), ordinal, this.#from)
  }
}

/** Blocks whose logs are indexed under one id, inclusive. The rows of an id that no range has do not count, nor those of later blocks. */
export interface LogRange {
  readonly id: number
  readonly from: number
  readonly to: number
}

/** Index of logs, and how often blocks were reverted: what was read before a revert is not added to it. */
interface LogIndex {
  readonly reverts: number
  /** Ascending and disjoint. */
  readonly ranges: readonly LogRange[]
}

/** Row of the index: reverts, then three numbers for each range. It names a range when the range's rows are on disk. */
const INDEX = metaKey('logIndex')
const RANGE_BYTES = 3 * NUMBER_BYTES

export const readLogIndex = (store: Store, snapshot?: Snapshot): LogIndex => {
  const row = store.getSync(BUCKETS.meta, INDEX, snapshot)
  if (row === undefined) return { reverts: 0, ranges: [] }
  const ranges = Array.from({ length: Math.floor(row.byteLength / RANGE_BYTES) }, (_, index) => {
    const at = NUMBER_BYTES + index * RANGE_BYTES
    return { id: readNumber(row, at), from: readNumber(row, at + 8), to: readNumber(row, at + 16) }
  })
  return { reverts: readNumber(row), ranges }
}

export const putLogIndex = (batch: Batch, { reverts, ranges }: LogIndex): void => {
  const row = new Uint8Array(NUMBER_BYTES + ranges.length * RANGE_BYTES)
  const numbers = [reverts, ...ranges.flatMap(({ id, from, to }) => [id, from, to])]
  for (const [index, number] of numbers.entries()) writeNumber(row, index * NUMBER_BYTES, number)
  batch.put(BUCKETS.meta, INDEX, row)
}

/** Adds the end of the index at a block to the batch that reverts those above it. */
export const cutLogIndex = (batch: Batch, store: Store, number: number): void => {
  const { reverts, ranges } = readLogIndex(store)
  const left = ranges.filter(({ from }) => from <= number)
  const cut = left.map(range => ({ ...range, to: Math.min(range.to, number) }))
  putLogIndex(batch, { reverts: reverts + 1, ranges: cut })
}
