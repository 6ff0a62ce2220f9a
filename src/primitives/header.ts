import { assert } from '@tandem/base/assert.ts'
import { type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import { keccak256Hex } from '../crypto/hash.ts'
import { decodeOrMalformed, malformed } from './rlp/malformed.ts'
import { encodeRlp, type RlpItem, uintItem } from './rlp/rlp.ts'
import { RlpCursor, readWhole } from './rlp/rlp-cursor.ts'

/** London header in its usual order; later members only where a custom genesis activates their fork (fixture mode). */
export interface Header {
  readonly parentHash: Hex
  readonly sha3Uncles: Hex
  readonly miner: Hex
  readonly stateRoot: Hex
  readonly transactionsRoot: Hex
  readonly receiptsRoot: Hex
  readonly logsBloom: Uint8Array
  readonly difficulty: bigint
  readonly number: number
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  /** Unix seconds. */
  readonly timestamp: number
  readonly extraData: Uint8Array
  readonly mixHash: Hex
  readonly nonce: Hex
  readonly baseFeePerGas?: bigint
  readonly withdrawalsRoot?: Hex
  readonly blobGasUsed?: bigint
  readonly excessBlobGas?: bigint
  readonly parentBeaconBlockRoot?: Hex
  readonly requestsHash?: Hex
}

/** keccak256 of the empty RLP list: `sha3Uncles` of every block, and the hash of an empty list of proof headers or evidence. */
export const EMPTY_LIST_HASH: Hex = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'
/** Root of the receipts or transactions of an empty block. */
export const EMPTY_TRIE_ROOT: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
export const ZERO_NONCE: Hex = '0x0000000000000000'

const USUAL_WORDS: readonly Hex[] = [EMPTY_LIST_HASH, EMPTY_TRIE_ROOT, ZERO_HASH, ZERO_NONCE]
const USUAL_BYTES: ReadonlyMap<Hex, Uint8Array> = new Map(USUAL_WORDS.map(word => [word, hexToBytes(word)]))

/** Bytes of a word of a header, for reading only: most words of an empty block's are converted once. */
export const wordBytes = (word: Hex): Uint8Array => USUAL_BYTES.get(word) ?? hexToBytes(word)

/** Fields of the header in encoding order; a fork's members follow only where it is active. */
export const headerItems = (header: Header): readonly RlpItem[] => {
  const items: RlpItem[] = [
    hexToBytes(header.parentHash),
    wordBytes(header.sha3Uncles),
    hexToBytes(header.miner),
    hexToBytes(header.stateRoot),
    wordBytes(header.transactionsRoot),
    wordBytes(header.receiptsRoot),
    header.logsBloom,
    uintItem(header.difficulty),
    uintItem(header.number),
    uintItem(header.gasLimit),
    uintItem(header.gasUsed),
    uintItem(header.timestamp),
    header.extraData,
    wordBytes(header.mixHash),
    wordBytes(header.nonce),
  ]
  const later = laterItems(header)
  let present = later.length
  while (present > 0 && later[present - 1] === undefined) present--
  for (const item of later.slice(0, present)) {
    assert(item !== undefined, 'a header holds every member before its last')
    items.push(item)
  }
  return items
}

const laterItems = (header: Header): readonly (Uint8Array | undefined)[] => [
  header.baseFeePerGas === undefined ? undefined : uintItem(header.baseFeePerGas),
  header.withdrawalsRoot && hexToBytes(header.withdrawalsRoot),
  header.blobGasUsed === undefined ? undefined : uintItem(header.blobGasUsed),
  header.excessBlobGas === undefined ? undefined : uintItem(header.excessBlobGas),
  header.parentBeaconBlockRoot && hexToBytes(header.parentBeaconBlockRoot),
  header.requestsHash && hexToBytes(header.requestsHash),
]

export const encodeHeader = (header: Header): Uint8Array => encodeRlp(headerItems(header))

/** keccak256 of the header's RLP: the block hash (docs/design/blocks.md#header). */
export const headerHash = (header: Header): Hex => keccak256Hex(encodeHeader(header))

/** Throws HEADER_MALFORMED. */
export const decodeHeader = (bytes: Uint8Array): Header =>
  decodeOrMalformed('HEADER_MALFORMED', () => readWhole(bytes, readHeader))

/** Returns the logs bloom of an encoded header, as a view. Throws RLP_INVALID. */
export const encodedBloom = (bytes: Uint8Array): Uint8Array => {
  const cursor = new RlpCursor(bytes)
  cursor.openList()
  for (let before = 0; before < 6; before++) cursor.skip()
  return cursor.bytes()
}

/** Reads one header at the cursor. Throws RLP_INVALID or HEADER_MALFORMED. */
export const readHeader = (cursor: RlpCursor): Header => {
  const outer = cursor.openList()
  const header: Header = {
    parentHash: cursor.hex(32),
    sha3Uncles: cursor.hex(32),
    miner: cursor.hex(20),
    stateRoot: cursor.hex(32),
    transactionsRoot: cursor.hex(32),
    receiptsRoot: cursor.hex(32),
    logsBloom: readBloom(cursor),
    difficulty: cursor.uint(32),
    number: cursor.safeUint(),
    gasLimit: cursor.uint(8),
    gasUsed: cursor.uint(8),
    timestamp: cursor.safeUint(),
    extraData: cursor.bytes(),
    mixHash: cursor.hex(32),
    nonce: cursor.hex(8),
    ...readLater(cursor),
  }
  cursor.closeList(outer)
  return header
}

const readBloom = (cursor: RlpCursor): Uint8Array => {
  const bloom = cursor.bytes()
  if (bloom.byteLength !== 256) throw malformed('HEADER_MALFORMED', `logsBloom has ${bloom.byteLength} bytes, want 256`)
  return bloom
}

const readLater = (cursor: RlpCursor): Partial<Header> => ({
  ...(cursor.hasMore() && { baseFeePerGas: cursor.uint(32) }),
  ...(cursor.hasMore() && { withdrawalsRoot: cursor.hex(32) }),
  ...(cursor.hasMore() && { blobGasUsed: cursor.uint(8) }),
  ...(cursor.hasMore() && { excessBlobGas: cursor.uint(8) }),
  ...(cursor.hasMore() && { parentBeaconBlockRoot: cursor.hex(32) }),
  ...(cursor.hasMore() && { requestsHash: cursor.hex(32) }),
})
