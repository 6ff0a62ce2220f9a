import type { AsyncCodec } from '@tandem/base/async/async-codec.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { keccak256Hex } from '../crypto/hash.ts'
import { type EthereumBody, encodeEthereumBodyItems } from './ethereum-body.ts'
import { encodeHeader, type Header, readHeader } from './header.ts'
import { decodeOrMalformed, type MalformedError, malformed } from './rlp/malformed.ts'
import { encodeRlpList, rlpListBytes, rlpStringBytes, writeRlpString } from './rlp/rlp.ts'
import { RlpCursor, readWholeList } from './rlp/rlp-cursor.ts'
import { type DecodedTransaction, decodeTransaction, type Transaction } from './transaction/transaction.ts'

/** Codec of whole blocks. Decoding recovers senders, hence off the main thread. Rejects with CodedError on malformed bytes. */
export type BlockCodec = AsyncCodec<Block>

export interface Block {
  readonly header: Header
  /** keccak256 of the header's RLP. */
  readonly hash: Hex
  readonly transactions: readonly Transaction[]
  /** Encoded proof headers this block makes final (docs/design/proof-chain.md#inclusion). */
  readonly proofHeaders: readonly Uint8Array[]
  /** Encoded evidence (docs/design/consensus.md#evidence). */
  readonly evidence: readonly Uint8Array[]
  /** Only on a chain with Ethereum's rules (fixture mode); proof headers and evidence are empty then. */
  readonly ethereum?: EthereumBody
  /** Length of the block's RLP, bytes. */
  readonly size: number
}

/** Parts of a block besides its header. */
export type BlockContents = Pick<Block, 'transactions' | 'proofHeaders' | 'evidence' | 'ethereum'>

/** Block from outside, without recovered senders. */
export interface DecodedBlock extends Omit<Block, 'transactions'> {
  readonly transactions: readonly DecodedTransaction[]
}

export type BlockDecodeError = MalformedError<'BLOCK_MALFORMED'>

/** Builds a block from a finished header and its body. */
export const blockFromParts = (header: Header, body: BlockContents): Block => {
  const encoded = encodeHeader(header)
  return { header, hash: keccak256Hex(encoded), ...body, size: blockSize(encoded.byteLength, body) }
}

/**
 * Encodes a block: RLP of [header, transactions, [], proof headers, evidence], the last two only when not empty
 * (docs/design/blocks.md#body). With Ethereum's rules it ends in uncles and withdrawals instead.
 */
export const encodeBlock = (block: EncodableBody & Pick<Block, 'header'>): Uint8Array =>
  encodeBlockParts(encodeHeader(block.header), block)

/** Parts of a body that are encoded in the block's RLP. */
export interface EncodableBody extends Omit<BlockContents, 'transactions'> {
  readonly transactions: readonly Pick<DecodedTransaction, 'type' | 'raw'>[]
}

/** Encodes a block from its encoded header and its body. */
export const encodeBlockParts = (header: Uint8Array, body: EncodableBody): Uint8Array => {
  const parts = [header, encodeRlpList(body.transactions.map(({ type, raw }) => (type === 0 ? raw : asString(raw))))]
  if (body.ethereum) return encodeRlpList([...parts, ...encodeEthereumBodyItems(body.ethereum)])
  parts.push(EMPTY_LIST)
  if (body.proofHeaders.length + body.evidence.length > 0) parts.push(byteStrings(body.proofHeaders))
  if (body.evidence.length > 0) parts.push(byteStrings(body.evidence))
  return encodeRlpList(parts)
}

const EMPTY_LIST = Uint8Array.of(0xc0)

/** Hash of a body's proof headers or evidence as extraData commits to it: keccak256 of the RLP list of the byte strings. */
export const hashByteStrings = (items: readonly Uint8Array[]): Hex => keccak256Hex(byteStrings(items))

/** In a block a typed transaction is a string, a legacy one a list (EIP-2718). */
const asString = (raw: Uint8Array): Uint8Array => {
  const out = new Uint8Array(rlpStringBytes(raw))
  writeRlpString(raw, out, 0)
  return out
}

const byteStrings = (items: readonly Uint8Array[]): Uint8Array => encodeRlpList(items.map(asString))

const blockSize = (headerBytes: number, body: BlockContents): number => {
  let transactions = 0
  for (const { type, raw } of body.transactions) transactions += type === 0 ? raw.byteLength : rlpStringBytes(raw)
  const size = headerBytes + rlpListBytes(transactions)
  if (!body.ethereum) return rlpListBytes(size + ownPartsSize(body))
  return rlpListBytes(encodeEthereumBodyItems(body.ethereum).reduce((sum, part) => sum + part.byteLength, size))
}

/** Size of the empty list of uncles and the lists after it. */
const ownPartsSize = (body: BlockContents): number => {
  let size = 1
  if (body.proofHeaders.length + body.evidence.length > 0) size += rlpListBytes(stringsSize(body.proofHeaders))
  if (body.evidence.length > 0) size += rlpListBytes(stringsSize(body.evidence))
  return size
}

const stringsSize = (items: readonly Uint8Array[]): number => items.reduce((sum, item) => sum + rlpStringBytes(item), 0)

/** Strict; byte fields are views of `bytes`. Checks form only. Throws BLOCK_MALFORMED. */
export const decodeBlock = (bytes: Uint8Array): DecodedBlock =>
  decodeOrMalformed('BLOCK_MALFORMED', () =>
    readWholeList(bytes, cursor => {
      const start = cursor.position
      const header = readHeader(cursor)
      const hash = keccak256Hex(bytes.subarray(start, cursor.position))
      const transactions = readTransactions(cursor)
      if (!cursor.takeEmptyList()) throw malformed('BLOCK_MALFORMED', 'a block has an empty list of uncles')
      const [proofHeaders, evidence] = [readStrings(cursor), readStrings(cursor)]
      return { header, hash, transactions, proofHeaders, evidence, size: bytes.byteLength }
    }),
  )

/** Decodes the header of an encoded block and returns it with its hash. Throws BLOCK_MALFORMED, also above `maxBytes`. */
export const decodeBlockHeader = (bytes: Uint8Array, maxBytes: number): Pick<DecodedBlock, 'header' | 'hash'> =>
  decodeOrMalformed('BLOCK_MALFORMED', () => {
    const cursor = new RlpCursor(bytes)
    cursor.openList()
    if (cursor.peekLength() > maxBytes) throw malformed('BLOCK_MALFORMED', `a header of more than ${maxBytes} bytes`)
    const start = cursor.position
    const header = readHeader(cursor)
    return { header, hash: keccak256Hex(bytes.subarray(start, cursor.position)) }
  })

/** Reads the list of a block's transactions at the cursor. Throws RLP_INVALID, TRANSACTION_MALFORMED or BLOCK_MALFORMED. */
export const readTransactions = (cursor: RlpCursor): readonly DecodedTransaction[] =>
  cursor.items(() => {
    const legacy = cursor.nextIsList()
    const transaction = decodeTransaction(legacy ? cursor.raw() : cursor.bytes())
    if (legacy !== (transaction.type === 0)) throw malformed('BLOCK_MALFORMED', 'a legacy transaction is a list')
    return transaction
  })

const NONE: readonly Uint8Array[] = []

/** Reads an optional list at the end of a block; an empty one is omitted unless another follows, so that each block has one encoding. */
const readStrings = (cursor: RlpCursor): readonly Uint8Array[] => {
  if (!cursor.hasMore()) return NONE
  const items = cursor.items(() => cursor.bytes())
  if (items.length === 0 && !cursor.hasMore()) throw malformed('BLOCK_MALFORMED', 'an empty list at the end of a block')
  return items
}
