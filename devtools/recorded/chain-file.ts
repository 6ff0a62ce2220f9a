import { CodedError } from '@tandem/base/errors.ts'
import { keccak256Hex } from '../../src/crypto/hash.ts'
import { type BlockDecodeError, type DecodedBlock, readTransactions } from '../../src/primitives/block.ts'
import { type EthereumBody, readEthereumBodyItems } from '../../src/primitives/ethereum-body.ts'
import { type Header, readHeader } from '../../src/primitives/header.ts'
import { decodeOrMalformed, malformed } from '../../src/primitives/rlp/malformed.ts'
import { RlpCursor } from '../../src/primitives/rlp/rlp-cursor.ts'
import { FIXTURE_LIMITS } from '../limits.ts'

/** Block of a recorded chain, without recovered senders. */
export interface DecodedEthereumBlock extends DecodedBlock {
  readonly ethereum: EthereumBody
}

/**
 * Decodes blocks with Ethereum's rules, concatenated RLP as clients export it; `genesis` is the block before the first. Strict,
 * checks form only; byte fields are views of `bytes`. Throws BLOCK_MALFORMED, which names the block.
 */
export const decodeChainFile = (
  bytes: Uint8Array,
  genesis: Pick<Header, 'difficulty'>,
): readonly DecodedEthereumBlock[] => {
  const cursor = new RlpCursor(bytes)
  const blocks: DecodedEthereumBlock[] = []
  let totalDifficulty = genesis.difficulty
  while (cursor.hasMore()) {
    if (blocks.length === FIXTURE_LIMITS.blocks) throw malformed('BLOCK_MALFORMED', `more than ${blocks.length} blocks`)
    const block = readNext(cursor, bytes, blocks.length + 1)
    totalDifficulty += block.header.difficulty
    blocks.push({ ...block, ethereum: { ...block.ethereum, totalDifficulty } })
  }
  return blocks
}

const readNext = (cursor: RlpCursor, bytes: Uint8Array, position: number): DecodedEthereumBlock => {
  try {
    return decodeOrMalformed('BLOCK_MALFORMED', () => readBlock(cursor, bytes))
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== 'BLOCK_MALFORMED') throw error
    const { reason } = error.detail as BlockDecodeError
    throw malformed('BLOCK_MALFORMED', `block ${position} of the file: ${reason}`, { cause: error })
  }
}

const readBlock = (cursor: RlpCursor, bytes: Uint8Array): DecodedEthereumBlock => {
  const begin = cursor.position
  const outer = cursor.openList()
  const start = cursor.position
  const header = readHeader(cursor)
  const hash = keccak256Hex(bytes.subarray(start, cursor.position))
  const transactions = readTransactions(cursor)
  const ethereum = { ...readEthereumBodyItems(cursor), totalDifficulty: 0n }
  cursor.closeList(outer)
  const size = cursor.position - begin
  return { header, hash, transactions, proofHeaders: [], evidence: [], ethereum, size }
}
