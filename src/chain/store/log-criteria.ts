import { asBuffer, bytesToHex, concatBytes, EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { keccak256 } from '../../crypto/hash.ts'
import { type EncodedLog, type Log, topicAt } from '../../primitives/receipt/log.ts'

/** Requested addresses and topics, as sorted bytes (a fifth of strings' memory). Empty lists match any; a log needs as many topics. */
export interface LogCriteria {
  readonly addresses: Uint8Array
  readonly topics: readonly Uint8Array[]
}

export const ADDRESS_BYTES = 20
export const TOPIC_BYTES = 32

export const EVERY_LOG: LogCriteria = { addresses: EMPTY_BYTES, topics: [] }

const pack = (items: readonly Hex[], width: number): Uint8Array => {
  if (items.length === 0) return EMPTY_BYTES
  // Hex strings of one length sort like their bytes.
  const sorted = [...new Set(items)].sort()
  const bytes = new Uint8Array(sorted.length * width)
  const buffer = asBuffer(bytes)
  sorted.forEach((item, index) => {
    buffer.write(item.slice(2), index * width, width, 'hex')
  })
  return bytes
}

/** Packs lists from a request: lower case, of the right length; null matches any. */
export const packCriteria = ({
  addresses,
  topics,
}: {
  readonly addresses: readonly Hex[]
  readonly topics: readonly (readonly Hex[] | null)[]
}): LogCriteria => ({
  addresses: pack(addresses, ADDRESS_BYTES),
  topics: topics.map(alternatives => pack(alternatives ?? [], TOPIC_BYTES)),
})

export const criteriaBytes = ({ addresses, topics }: LogCriteria): number =>
  topics.reduce((sum, list) => sum + list.byteLength, addresses.byteLength)

/** Returns a key that is equal for equal criteria. */
export const criteriaKey = ({ addresses, topics }: LogCriteria): Hex => {
  const lengths = Uint32Array.from([addresses, ...topics], list => list.byteLength)
  return bytesToHex(keccak256(concatBytes(new Uint8Array(lengths.buffer), addresses, ...topics)))
}

export const itemsOf = (list: Uint8Array, width: number): Hex[] => {
  const items: Hex[] = []
  for (let at = 0; at < list.byteLength; at += width) items.push(bytesToHex(list.subarray(at, at + width)))
  return items
}

/** Returns the topic, or else the address, that every matching log holds: of the last list of one item; undefined when there is none. */
export const soleItem = ({ addresses, topics }: LogCriteria): Uint8Array | undefined =>
  topics.findLast(({ byteLength }) => byteLength === TOPIC_BYTES) ??
  (addresses.byteLength === ADDRESS_BYTES ? addresses : undefined)

/** Compares the item at an offset of a list with that at `from`: negative, 0 or positive. */
const compareAt = (list: Uint8Array, at: number, bytes: Uint8Array, from: number, width: number): number => {
  for (let i = 0; i < width; i++) {
    const difference = (list[at + i] as number) - (bytes[from + i] as number)
    if (difference !== 0) return difference
  }
  return 0
}

/** Returns true when a sorted list contains the item at an offset. */
const holds = (list: Uint8Array, width: number, bytes: Uint8Array, from = 0): boolean => {
  let low = 0
  let high = list.byteLength / width
  while (low < high) {
    const middle = (low + high) >>> 1
    const difference = compareAt(list, middle * width, bytes, from, width)
    if (difference === 0) return true
    if (difference < 0) low = middle + 1
    else high = middle
  }
  return false
}

/** Returns true when a log encoded in `row` matches. */
export const matchesEncoded = ({ addresses, topics }: LogCriteria, row: Uint8Array, log: EncodedLog): boolean =>
  topics.length <= log.topicCount &&
  (addresses.byteLength === 0 || holds(addresses, ADDRESS_BYTES, row, log.address)) &&
  topics.every((list, position) => list.byteLength === 0 || holds(list, TOPIC_BYTES, row, topicAt(log, position)))

/** Log whose parts are converted to bytes at the first comparison, for matching against many criteria. */
export class ComparedLog {
  readonly #log: Pick<Log, 'address' | 'topics'>
  #address: Uint8Array | undefined
  readonly #topics: Uint8Array[] = []

  constructor(log: Pick<Log, 'address' | 'topics'>) {
    this.#log = log
  }

  matches({ addresses, topics }: LogCriteria): boolean {
    if (topics.length > this.#log.topics.length) return false
    if (addresses.byteLength > 0 && !holds(addresses, ADDRESS_BYTES, this.#addressBytes())) return false
    return topics.every(
      (list, position) => list.byteLength === 0 || holds(list, TOPIC_BYTES, this.#topicBytes(position)),
    )
  }

  #addressBytes(): Uint8Array {
    this.#address ??= Buffer.from(this.#log.address.slice(2), 'hex')
    return this.#address
  }

  #topicBytes(position: number): Uint8Array {
    this.#topics[position] ??= Buffer.from((this.#log.topics[position] as Hex).slice(2), 'hex')
    return this.#topics[position]
  }
}
