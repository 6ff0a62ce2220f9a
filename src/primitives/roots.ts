import { finishSlicedWork, partCounter, type SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { bytesToHex, freeLarge, type Hex } from '@tandem/base/bytes.ts'
import { keccak256, keccak256Parts } from '../crypto/hash.ts'
import { EMPTY_TRIE_ROOT } from './header.ts'
import { encodeInParts, encodeReceipt, type Receipt } from './receipt/receipt.ts'
import { lengthOfLength, rlpListBytes, writeRlpHeader } from './rlp/rlp.ts'
import type { DecodedTransaction } from './transaction/transaction.ts'

/** Root of the trie of a block's transactions by index (Yellow Paper 4.3.2). */
export const transactionsRoot = (transactions: readonly Pick<DecodedTransaction, 'raw'>[]): Hex =>
  orderedRoot(transactions.map(transaction => transaction.raw))

/** Computes the root of transactions in parts: a block may have tens of thousands. */
export const transactionsRootParts = (transactions: readonly Pick<DecodedTransaction, 'raw'>[]): SlicedWork<Hex> =>
  orderedRootParts(transactions.map(transaction => transaction.raw))

/** Root of the trie of a block's receipts by index. */
export const receiptsRoot = (receipts: readonly Receipt[]): Hex => finishSlicedWork(receiptsRootParts(receipts))

/** Computes the root of receipts in parts: those of a block may be 40 MB. */
export function* receiptsRootParts(receipts: readonly Receipt[]): SlicedWork<Hex> {
  const encoded = yield* encodeInParts(receipts, encodeReceipt)
  const root = yield* orderedRootParts(encoded)
  freeLarge(encoded)
  return root
}

/*
 * Root of a Merkle-Patricia trie whose keys are rlp(0), rlp(1), ... (yellow paper 4.3.2, appendix D): transactionsRoot, receiptsRoot.
 * Keys are produced in sorted order, and no key is the prefix of another, so no branch has a value; the trie is built once from the
 * bottom and never stored.
 */

/** rlp(index) of one byte ends here. */
const SINGLE_BYTE = 0x80
/** Reference to a node: its encoding below 32 bytes, else 0xa0 and its hash. */
const MAX_REFERENCE = 33
const BRANCH_BYTES = 3 + 16 * MAX_REFERENCE + 1
const EXTENSION_BYTES = 2 + 8 + MAX_REFERENCE
const LEAF_HEAD_BYTES = 5 + 8 + 5

/** Root over `items`, each the bytes stored for its index; EMPTY_TRIE_ROOT for none. */
export const orderedRoot = (items: readonly Uint8Array[]): Hex => finishSlicedWork(orderedRootParts(items))

/** Computes the root over items in parts: they may be tens of megabytes. */
function* orderedRootParts(items: readonly Uint8Array[]): SlicedWork<Hex> {
  if (items.length === 0) return EMPTY_TRIE_ROOT
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
    if (item.byteLength !== 1 || item[0]! >= 0x80) end = writeRlpHeader(head, end, item.byteLength, 0x80)
    const payload = end - 5 + item.byteLength
    const start = 5 - rlpListBytes(payload) + payload
    writeRlpHeader(head, start, payload, 0xc0)
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

const keyNibbles = (index: number): number => (index < SINGLE_BYTE ? 2 : 2 + 2 * lengthOfLength(index))

/** Nibble of rlp(index) at a depth. */
const nibble = (index: number, depth: number): number => {
  const at = depth >> 1
  let byte: number
  if (index < SINGLE_BYTE) byte = index === 0 ? 0x80 : index
  else byte = at === 0 ? 0x80 + lengthOfLength(index) : (index >>> (8 * (lengthOfLength(index) - at))) & 0xff
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

/** The payload is at 3 .. end; the list header is written right before it. */
const withListHeader = (encoded: Buffer, end: number): Buffer => {
  const payload = end - 3
  const start = 3 - rlpListBytes(payload) + payload
  writeRlpHeader(encoded, start, payload, 0xc0)
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
