import { concatBytes } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { FIXTURE_LIMITS } from '../../../../devtools/limits.ts'
import { decodeChainFile } from '../../../../devtools/recorded/chain-file.ts'
import { requestsHash, unclesHash, withdrawalsRoot } from '../../../../devtools/recorded/ethereum-roots.ts'
import { recoverTransaction } from '../../../../devtools/state-test/transaction-sender.ts'
import { blockFromParts, encodeBlock } from '../../../../src/primitives/block.ts'
import { decodeEthereumBody, encodeEthereumBody } from '../../../../src/primitives/ethereum-body.ts'
import { EMPTY_LIST_HASH } from '../../../../src/primitives/header.ts'
import { HEAD_HASH, recordedBytes, recordedGenesis } from '../../../support/recorded/chain.ts'

const bytes = recordedBytes()
const genesis = recordedGenesis().header
const blocks = decodeChainFile(bytes, genesis)

test('the recorded blocks are read to the last byte, and written again as they were', () => {
  expect(blocks).toHaveLength(54)
  expect(blocks.at(-1)?.hash).toBe(HEAD_HASH)
  expect(concatBytes(...blocks.map(encodeBlock))).toEqual(bytes)
})

test('sealing counts the bytes of uncles and withdrawals', () => {
  for (const { transactions, ...block } of blocks) {
    const sealed = blockFromParts(block.header, { ...block, transactions: transactions.map(recoverTransaction) })
    expect(sealed).toMatchObject({ hash: block.hash, size: block.size })
  }
})

test('headers name their uncles and withdrawals', () => {
  for (const { header, ethereum } of blocks) {
    expect(unclesHash(ethereum.uncles)).toBe(header.sha3Uncles)
    expect(ethereum.withdrawals && withdrawalsRoot(ethereum.withdrawals)).toBe(header.withdrawalsRoot)
  }
  expect(blocks.some(({ ethereum }) => ethereum.uncles.length > 0)).toBe(true)
  expect(blocks.some(({ ethereum }) => (ethereum.withdrawals ?? []).length > 0)).toBe(true)
})

test('difficulties add up, to what ends proof of work', () => {
  expect(blocks[0]?.ethereum.totalDifficulty).toBe(2n * 0x20000n)
  expect(blocks[34]?.ethereum.totalDifficulty).toBe(4_732_352n)
  expect(blocks[53]?.ethereum.totalDifficulty).toBe(4_732_352n)
})

test('a body as stored reads back', () => {
  for (const { ethereum } of blocks) expect(decodeEthereumBody(encodeEthereumBody(ethereum))).toEqual(ethereum)
})

test('requests that hold nothing do not count (EIP-7685)', () => {
  const none = requestsHash([])
  expect(none).toBe('0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  expect(requestsHash([Uint8Array.of(1), Uint8Array.of(2)])).toBe(none)
  expect(requestsHash([Uint8Array.of(1, 5)])).not.toBe(none)
  expect(unclesHash([])).toBe(EMPTY_LIST_HASH)
})

const first = bytes.subarray(0, blocks[0]?.size)

test.each([
  ['is cut short', bytes.subarray(0, bytes.byteLength - 1), /block 54 of the file/],
  ['ends in a list of nothing', concatBytes(first, Uint8Array.of(0xc0)), /block 2 of the file/],
  ['begins with a string', Uint8Array.of(0x83, 1, 2, 3), /block 1 of the file: rlp: expected List/],
  ['has something after its withdrawals', encodeWithMore(), /block 1 of the file: rlp: too many elements/],
])('a file that %s is refused, with the place', (_, file, reason) => {
  expect(() => decodeChainFile(file, genesis)).toThrow(
    expect.objectContaining({ detail: { code: 'BLOCK_MALFORMED', reason: expect.stringMatching(reason) } }),
  )
})

test('a file holds so many blocks and no more', () => {
  const { header, ethereum } = blocks[0] as (typeof blocks)[number]
  const empty = encodeBlock({ header, transactions: [], proofHeaders: [], evidence: [], ethereum })
  const limit = FIXTURE_LIMITS.blocks
  const file = Buffer.alloc((limit + 1) * empty.byteLength, empty)
  expect(decodeChainFile(file.subarray(empty.byteLength), genesis)).toHaveLength(limit)
  expect(() => decodeChainFile(file, genesis)).toThrow(
    expect.objectContaining({ detail: { code: 'BLOCK_MALFORMED', reason: `more than ${limit} blocks` } }),
  )
})

/** The first block of Shanghai with an empty list behind its withdrawals. */
function encodeWithMore(): Uint8Array {
  const shanghai = blocks[38]
  if (shanghai === undefined) throw new Error('the record reaches Shanghai')
  const encoded = encodeBlock(shanghai)
  const payload = concatBytes(encoded.subarray(3), Uint8Array.of(0xc0))
  return concatBytes(Uint8Array.of(0xf9, payload.byteLength >> 8, payload.byteLength & 0xff), payload)
}
