import { ZERO_HASH } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import { decodeHeader, EMPTY_LIST_HASH, encodeHeader, type Header, headerHash } from '../../../src/primitives/header.ts'
import { encodeRlp } from '../../../src/primitives/rlp/rlp.ts'
import { transactionsRoot } from '../../../src/primitives/roots.ts'
import { decodeTransaction } from '../../../src/primitives/transaction/transaction.ts'
import { blockParts, codeOf, testChain } from './support.ts'

const HEAD = '0xd226371d0b1551adb03fb52b71f08e3e11247fe9b1af994768af8cdaa8e7dcd7'

describe('54 blocks of other clients, from Frontier to Osaka', () => {
  const blocks = testChain().map(blockParts)
  const headers = blocks.map(block => decodeHeader(block.header))

  test('each header names the hash of the one before, up to the known head', () => {
    for (let i = 1; i < headers.length; i++) {
      expect(headers[i]?.parentHash).toBe(headerHash(headers[i - 1] as Header))
    }
    expect(headerHash(headers.at(-1) as Header)).toBe(HEAD)
  })

  test('encoding is the inverse of decoding', () => {
    blocks.forEach((block, i) => {
      expect(encodeHeader(headers[i] as Header)).toEqual(new Uint8Array(block.header))
    })
  })

  test('their transactions have the roots the headers name', () => {
    blocks.forEach((block, i) => {
      expect(transactionsRoot(block.transactions.map(decodeTransaction))).toBe(headers[i]?.transactionsRoot)
    })
  })
})

const header = (): Header => decodeHeader(blockParts(testChain()[30] as Uint8Array).header)

test('the hash of an empty list', () => {
  expect(keccak256Hex(encodeRlp([]))).toBe(EMPTY_LIST_HASH)
})

test('later members come in order or not at all', () => {
  const { baseFeePerGas: _, ...london } = header()
  expect(() => encodeHeader({ ...london, withdrawalsRoot: ZERO_HASH })).toThrow('every member before its last')
})

test('a malformed header is refused with a code', () => {
  const bytes = encodeHeader(header())
  for (let size = 0; size < bytes.byteLength; size++) {
    expect(codeOf(() => decodeHeader(bytes.subarray(0, size)))).toBe('HEADER_MALFORMED')
  }
  expect(codeOf(() => decodeHeader(encodeHeader({ ...header(), logsBloom: new Uint8Array(255) })))).toBe(
    'HEADER_MALFORMED',
  )
  expect(codeOf(() => decodeHeader(encodeHeader({ ...header(), gasLimit: 2n ** 64n })))).toBe('HEADER_MALFORMED')
})
