import { finishSlicedWork, partCounter, type SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { keccak256, keccak256Parts } from './hash.ts'

/*
 * Root of a Merkle-Patricia trie whose keys are rlp(0), rlp(1), ... (yellow paper 4.3.2, appendix D): transactionsRoot, receiptsRoot.
 * Keys are produced in sorted order, and no key is the prefix of another, so no branch has a value; the trie is built once from the
 * bottom and never stored.
 */

const EMPTY_ROOT: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
/** rlp(index) of one byte ends here. */
const SINGLE_BYTE = 0x80
/** Reference to a node: its encoding below 32 bytes, else 0xa0 and its hash. */
const MAX_REFERENCE = 33
const BRANCH_BYTES = 3 + 16 * MAX_REFERENCE + 1
const EXTENSION_BYTES = 2 + 8 + MAX_REFERENCE
const LEAF_HEAD_BYTES = 5 + 8 + 5

/** Root over `items`, each the bytes stored for its index; EMPTY_ROOT for none. */
export const orderedRoot = (items: readonly Uint8Array[]): Hex => finishSlicedWork(orderedRootParts(items))

/** The same in parts: the items may be tens of megabytes. */
export function* orderedRootParts(items: readonly Uint8Array[]): SlicedWork<Hex> {
  if (items.length === 0) return EMPTY_ROOT
  const reference = Buffer.allocUnsafe(MAX_REFERENCE)
  const builder = new Builder(items)
  const size =
    items.length === 1 ? builder.leaf(0, 0, reference, 0) : yield* builder.node(0, items.length, 0, reference, 0)
  // The root is hashed whatever its size.
  return bytesToHex(size === MAX_REFERENCE ? reference.subarray(1) : keccak256(reference.subarray(0, size)))
}

class Builder {
  private readonly items: readonly Uint8Array[]
  /** Number of indexes of 1 .. 127: they sort before index 0, whose key is 0x80. */
  private readonly small: number
  private readonly partEnds = partCounter()

  constructor(items: readonly Uint8Array[]) {
    this.items = items
    this.small = Math.min(SINGLE_BYTE - 1, items.length - 1)
  }

  /** Writes the reference to the node over the sorted positions from .. to, several, at `at` of `out`; returns its end. */
  *node(from: number, to: number, depth: number, out: Buffer, at: number): SlicedWork<number> {
    const first = this.indexAt(from)
    const last = this.indexAt(to - 1)
    let shared = depth
    while (nibble(first, shared) === nibble(last, shared)) shared++
    if (shared === depth) return yield* this.branch(from, to, depth, out, at)
    const encoded = Buffer.allocUnsafe(EXTENSION_BYTES)
    let end = writePath(first, depth, shared, false, encoded, 1)
    end = yield* this.branch(from, to, shared, encoded, end)
    encoded[0] = 0xc0 + end - 1
    return writeReference(encoded.subarray(0, end), out, at)
  }

  private *branch(from: number, to: number, depth: number, out: Buffer, at: number): SlicedWork<number> {
    const encoded = Buffer.allocUnsafe(BRANCH_BYTES)
    let end = 3
    let position = from
    for (let child = 0; child < 16; child++) {
      const start = position
      while (position < to && nibble(this.indexAt(position), depth) === child) position++
      if (position === start) encoded[end++] = 0x80
      else if (position - start > 1) end = yield* this.node(start, position, depth + 1, encoded, end)
      else {
        const index = this.indexAt(start)
        end = this.leaf(index, depth + 1, encoded, end)
        if (this.partEnds((this.items[index] as Uint8Array).byteLength)) yield
      }
    }
    encoded[end++] = 0x80
    return writeReference(withListHeader(encoded, end), out, at)
  }

  /** Writes the reference to the leaf of an item. */
  leaf(index: number, depth: number, out: Buffer, at: number): number {
    const item = this.items[index]!
    const head = Buffer.allocUnsafe(LEAF_HEAD_BYTES)
    let end = writePath(index, depth, keyNibbles(index), true, head, 5)
    if (item.byteLength !== 1 || item[0]! >= 0x80) end = writeHeader(item.byteLength, 0x80, head, end)
    const payload = end - 5 + item.byteLength
    const start = 5 - headerSize(payload)
    writeHeader(payload, 0xc0, head, start)
    const prefix = head.subarray(start, end)
    const size = prefix.byteLength + item.byteLength
    if (size >= 32) return writeHash(keccak256Parts([prefix, item]), out, at)
    out.set(prefix, at)
    out.set(item, at + prefix.byteLength)
    return at + size
  }

  private indexAt(position: number): number {
    if (position < this.small) return position + 1
    return position === this.small ? 0 : position
  }
}

const indexBytes = (index: number): number => (index < 0x100 ? 1 : index < 0x1_0000 ? 2 : index < 0x100_0000 ? 3 : 4)

const keyNibbles = (index: number): number => (index < SINGLE_BYTE ? 2 : 2 + 2 * indexBytes(index))

/** Nibble of rlp(index) at a depth. */
const nibble = (index: number, depth: number): number => {
  const at = depth >> 1
  let byte: number
  if (index < SINGLE_BYTE) byte = index === 0 ? 0x80 : index
  else byte = at === 0 ? 0x80 + indexBytes(index) : (index >>> (8 * (indexBytes(index) - at))) & 0xff
  return depth & 1 ? byte & 15 : byte >> 4
}

/** Writes the compact path of nibbles from .. to as an RLP string (yellow paper, appendix C). */
const writePath = (index: number, from: number, to: number, leaf: boolean, out: Buffer, at: number): number => {
  const odd = (to - from) & 1
  const bytes = 1 + ((to - from) >> 1)
  if (bytes > 1) out[at++] = 0x80 + bytes
  out[at++] = (leaf ? 0x20 : 0) | (odd ? 0x10 | nibble(index, from) : 0)
  for (let i = from + odd; i < to; i += 2) out[at++] = (nibble(index, i) << 4) | nibble(index, i + 1)
  return at
}

const headerSize = (size: number): number => (size < 56 ? 1 : 1 + indexBytes(size))

const writeHeader = (size: number, base: number, out: Buffer, at: number): number => {
  if (size < 56) {
    out[at] = base + size
    return at + 1
  }
  const bytes = indexBytes(size)
  out[at] = base + 55 + bytes
  return out.writeUIntBE(size, at + 1, bytes)
}

/** The payload is at 3 .. end; the list header is written right before it. */
const withListHeader = (encoded: Buffer, end: number): Buffer => {
  const start = 3 - headerSize(end - 3)
  writeHeader(end - 3, 0xc0, encoded, start)
  return encoded.subarray(start, end)
}

const writeReference = (encoded: Uint8Array, out: Buffer, at: number): number => {
  if (encoded.byteLength >= 32) return writeHash(keccak256(encoded), out, at)
  out.set(encoded, at)
  return at + encoded.byteLength
}

const writeHash = (hash: Uint8Array, out: Buffer, at: number): number => {
  out[at] = 0xa0
  out.set(hash, at + 1)
  return at + MAX_REFERENCE
}
