import { finishSlicedWork } from '@tandem/base/async/sliced-work.ts'
import { expect, test } from 'vitest'
import { recoverTransaction } from '../../../../devtools/state-test/transaction-sender.ts'
import { BodyRow, encodeBody, locationFromKey, lookupKey, lookupPrefix } from '../../../../src/chain/store/body-row.ts'
import { blockFromParts, encodeBlock, encodeBlockParts } from '../../../../src/primitives/block.ts'
import { encodeHeader, type Header } from '../../../../src/primitives/header.ts'
import { decodeTransaction } from '../../../../src/primitives/transaction/transaction.ts'
import { ACCOUNT_KEYS, signedRaw, withChain } from '../../../support/chain.ts'

const headerOf = (): Promise<Header> => withChain(async chain => chain.chain.headBlock.header)
const transactions = [0, 1, 2].map(nonce =>
  recoverTransaction(
    decodeTransaction(
      signedRaw(ACCOUNT_KEYS[nonce] as Uint8Array, {
        nonce,
        type: nonce as 0 | 1 | 2,
        data: new Uint8Array(nonce * 40).fill(nonce),
      }),
    ),
  ),
)

test('a body reads back whole and one transaction at a time', async () => {
  const block = blockFromParts(await headerOf(), { transactions, proofHeaders: [], evidence: [] })
  const row = new BodyRow(encodeBody(block))
  expect({ header: block.header, ...finishSlicedWork(row.block()) }).toEqual(block)
  expect(row.transaction(1)).toEqual(transactions[1])
  expect(row.transactionHash(2)).toBe(transactions[2]?.hash)
  expect(() => row.transaction(3)).toThrow()
})

test.each([
  ['nothing else', { proofHeaders: [], evidence: [] }],
  ['a tail', { proofHeaders: [Uint8Array.of(1, 2, 3)], evidence: [Uint8Array.of(5)] }],
])('a block for peers is put together from its rows, byte for byte: %s', async (_, parts) => {
  const block = blockFromParts(await headerOf(), { transactions, ...parts })
  const encodable = new BodyRow(encodeBody(block)).encodable()
  expect(encodeBlockParts(encodeHeader(block.header), encodable)).toEqual(encodeBlock(block))
})

test('proof headers and evidence come after the transactions', async () => {
  const parts = { proofHeaders: [Uint8Array.of(1, 2, 3)], evidence: [new Uint8Array(300).fill(9), Uint8Array.of(5)] }
  const block = blockFromParts(await headerOf(), { transactions, ...parts })
  const read = finishSlicedWork(new BodyRow(encodeBody(block)).block())
  expect(read.proofHeaders).toEqual(parts.proofHeaders)
  expect(read.evidence).toEqual(parts.evidence)
  expect(read.transactions).toEqual(transactions)
})

test('locations keep numbers beyond 32 bits, behind the start of the hash', () => {
  const hash = `0x${'0123456789abcdef'.repeat(4)}` as const
  const place = { number: 2 ** 40 + 3, index: 70_000 }
  const key = lookupKey(hash, place)
  expect(locationFromKey(key)).toEqual(place)
  expect(Buffer.compare(key.subarray(0, 8), lookupPrefix(hash))).toBe(0)
})
