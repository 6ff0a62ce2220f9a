import { assert } from '@tandem/base/assert.ts'
import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { asBuffer, bytesFromDigits, bytesToHex, EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import type { Block, EncodableBody } from '../../primitives/block.ts'
import { decodeEthereumBody, encodeEthereumBody } from '../../primitives/ethereum-body.ts'
import { decodeRlp, encodeRlp } from '../../primitives/rlp/rlp.ts'
import {
  decodeTransaction,
  type Transaction,
  transactionType,
  withSender,
} from '../../primitives/transaction/transaction.ts'
import type { TransactionLocation } from './types.ts'

/**
 * Row of a block's body: its hash (32 bytes), size (u32) and transaction count (u32); per transaction its hash (32), sender (20)
 * and the end offset (u32) of its bytes; the bytes; then an optional tail: RLP of [proof headers, evidence], or of [[], [], body
 * with Ethereum's rules]. The fixed-size table gives access to one transaction without decoding the others, and the stored sender
 * avoids a signature recovery at each read. Integers are big-endian.
 */
const HEAD = 40
const ENTRY = 56

export const encodeBody = (block: Block): Uint8Array => {
  const { transactions } = block
  const tail = encodeTail(block)
  let size = HEAD + transactions.length * ENTRY + tail.byteLength
  for (const { raw } of transactions) size += raw.byteLength
  const row = Buffer.allocUnsafe(size)
  row.hexWrite(block.hash.slice(2), 0)
  row.writeUInt32BE(block.size, 32)
  row.writeUInt32BE(transactions.length, 36)
  let entry = HEAD
  let at = HEAD + transactions.length * ENTRY
  for (const { hash, from, raw } of transactions) {
    row.hexWrite(hash.slice(2), entry)
    row.hexWrite(from.slice(2), entry + 32)
    row.set(raw, at)
    at += raw.byteLength
    row.writeUInt32BE(at, entry + 52)
    entry += ENTRY
  }
  row.set(tail, at)
  return row
}

const encodeTail = ({ proofHeaders, evidence, ethereum }: Block): Uint8Array => {
  if (ethereum) return encodeRlp([[], [], encodeEthereumBody(ethereum)])
  return proofHeaders.length + evidence.length > 0 ? encodeRlp([proofHeaders, evidence]) : EMPTY_BYTES
}

type Tail = Pick<Block, 'proofHeaders' | 'evidence' | 'ethereum'>

const NO_TAIL: Tail = { proofHeaders: [], evidence: [] }

const decodeTail = (tail: Uint8Array): Tail => {
  if (tail.byteLength === 0) return NO_TAIL
  const [proofHeaders, evidence, ethereum] = decodeRlp(tail) as [Uint8Array[], Uint8Array[], Uint8Array?]
  return { proofHeaders, evidence, ...(ethereum && { ethereum: decodeEthereumBody(ethereum) }) }
}

/** Reader of a stored body. */
export class BodyRow {
  readonly count: number
  readonly #row: Buffer

  constructor(row: Uint8Array) {
    this.#row = asBuffer(row)
    assert(row.byteLength >= HEAD, 'a stored body has its head')
    this.count = this.#row.readUInt32BE(36)
    assert(row.byteLength >= this.#bytesAt(), 'a stored body holds its table')
  }

  get byteLength(): number {
    return this.#row.byteLength
  }

  get blockHash(): Hex {
    return `0x${this.#row.hexSlice(0, 32)}`
  }

  transactionHash(index: number): Hex {
    return bytesToHex(this.hashBytes(index))
  }

  /** Returns the hash of a transaction as a view. */
  hashBytes(index: number): Uint8Array {
    const at = HEAD + index * ENTRY
    return this.#row.subarray(at, at + 32)
  }

  /** Its bytes are copied, so that one transaction does not retain the whole block. */
  transaction(index: number): Transaction {
    assert(index >= 0 && index < this.count, 'transaction index inside the body')
    return this.#decode(index, this.#bytesOf(index).slice())
  }

  /** Returns the body for peers: transactions are views of the row and not decoded. */
  encodable(): EncodableBody {
    const transactions = Array.from({ length: this.count }, (_, index) => {
      const raw = this.#bytesOf(index)
      return { type: transactionType(raw), raw }
    })
    return { transactions, ...this.#tail() }
  }

  /** Decodes the whole body, one transaction in a part, as views of the row: small arrays would cost more than their content. */
  *block(): SlicedWork<Omit<Block, 'header'>> {
    const transactions: Transaction[] = []
    for (let index = 0; index < this.count; index++) {
      transactions.push(this.#decode(index, this.#bytesOf(index)))
      yield
    }
    return { hash: this.blockHash, size: this.#row.readUInt32BE(32), transactions, ...this.#tail() }
  }

  #tail(): Tail {
    return decodeTail(new Uint8Array(this.#row.subarray(this.#endOf(this.count - 1))))
  }

  #decode(index: number, raw: Uint8Array): Transaction {
    const entry = HEAD + index * ENTRY
    return withSender(decodeTransaction(raw), {
      hash: this.transactionHash(index),
      from: `0x${this.#row.hexSlice(entry + 32, entry + 52)}`,
    })
  }

  #bytesOf(index: number): Uint8Array {
    const start = this.#endOf(index - 1)
    return new Uint8Array(this.#row.buffer, this.#row.byteOffset + start, this.#endOf(index) - start)
  }

  #bytesAt(): number {
    return HEAD + this.count * ENTRY
  }

  #endOf(index: number): number {
    return index < 0 ? this.#bytesAt() : this.#row.readUInt32BE(HEAD + index * ENTRY + 52)
  }
}

/** Bytes of a transaction hash in its lookup row, and of the whole key. */
const PREFIX = 8
const LOOKUP = PREFIX + 6 + 4

/**
 * Key of a transaction's lookup row, whose value is not read: first 8 bytes of the hash, block number (6 bytes), index (4 bytes). Readers compare
 * the whole hash with that in the body: two transactions may share the prefix, and on a development chain one may be in several blocks.
 */
export const lookupKey = (hash: Hex, { number, index }: TransactionLocation): Uint8Array => {
  const key = Buffer.allocUnsafe(LOOKUP)
  key.hexWrite(hash.slice(2, 2 + 2 * PREFIX), 0)
  key.writeUIntBE(number, PREFIX, 6)
  key.writeUInt32BE(index, PREFIX + 6)
  return key
}

/** Returns the start of the lookup keys of a hash. */
export const lookupPrefix = (hash: Hex): Uint8Array => bytesFromDigits(hash.slice(2, 2 + 2 * PREFIX))

export const locationFromKey = (key: Uint8Array): TransactionLocation => {
  const buffer = asBuffer(key)
  return { number: buffer.readUIntBE(PREFIX, 6), index: buffer.readUInt32BE(PREFIX + 6) }
}
