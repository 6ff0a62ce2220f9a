import { assert } from '@tandem/base/assert.ts'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { keccak256 } from '../../crypto/hash.ts'
import { digestOf, type Log } from './log.ts'

/** The 2,048-bit log filter of headers and receipts (Yellow Paper 4.3.1): three bits for each address and topic. */
export const BLOOM_BYTES = 256

/** Bloom without logs. Shared: only this file writes into blooms, and only into those it creates. */
export const EMPTY_BLOOM: Uint8Array = new Uint8Array(BLOOM_BYTES)

/** Bit positions of one item: 0 is the lowest bit of the last byte. */
type BloomBits = readonly [number, number, number]

/** Addresses and topics repeat; this bounded cache saves most of their hashing. */
const known = new Map<Hex, BloomBits>()
const KNOWN_ITEMS = 8_192

export const bloomBits = (item: Hex): BloomBits => {
  const found = known.get(item)
  if (found !== undefined) return found
  const hash = keccak256(hexToBytes(item))
  const bits: BloomBits = [bitAt(hash, 0), bitAt(hash, 2), bitAt(hash, 4)]
  if (known.size >= KNOWN_ITEMS) known.clear()
  known.set(item, bits)
  return bits
}

const bitAt = (hash: Uint8Array, at: number): number => (((hash[at] as number) << 8) | (hash[at + 1] as number)) & 0x7ff

/** Bloom of logs that are read one after the other. */
export class GrowingBloom {
  #bytes: Uint8Array | undefined

  add({ address, topics }: Log): void {
    this.#bytes ??= new Uint8Array(BLOOM_BYTES)
    add(this.#bytes, address)
    for (const topic of topics) add(this.#bytes, topic)
  }

  /** Bloom of the logs added so far. */
  get bytes(): Uint8Array {
    return this.#bytes ?? EMPTY_BLOOM
  }
}

/** Bloom of one receipt's logs. */
export const bloomFromLogs = (logs: readonly Log[]): Uint8Array => {
  const known = digestOf(logs)
  if (known !== undefined) return known.bloom
  const bloom = new GrowingBloom()
  for (const log of logs) bloom.add(log)
  return bloom.bytes
}

const add = (bloom: Uint8Array, item: Hex): void => {
  for (const bit of bloomBits(item)) bloom[byteOf(bit)] = (bloom[byteOf(bit)] as number) | (1 << (bit & 7))
}

const byteOf = (bit: number): number => BLOOM_BYTES - 1 - (bit >> 3)

/** Bloom of a block: the union of its receipts' blooms. */
export const mergeBlooms = (blooms: Iterable<Uint8Array>): Uint8Array => {
  let union: Uint8Array | undefined
  for (const bloom of blooms) {
    assert(bloom.byteLength === BLOOM_BYTES, 'a bloom has 256 bytes')
    if (bloom === EMPTY_BLOOM) continue
    union ??= new Uint8Array(BLOOM_BYTES)
    for (let i = 0; i < BLOOM_BYTES; i++) union[i] = (union[i] as number) | (bloom[i] as number)
  }
  return union ?? EMPTY_BLOOM
}

/** false: the address or topic is certainly not in the logs. */
export const bloomHas = (bloom: Uint8Array, bits: BloomBits): boolean =>
  hasBit(bloom, bits[0]) && hasBit(bloom, bits[1]) && hasBit(bloom, bits[2])

const hasBit = (bloom: Uint8Array, bit: number): boolean => (((bloom[byteOf(bit)] as number) >> (bit & 7)) & 1) === 1
