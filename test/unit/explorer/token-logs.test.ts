import { concatBytes, EMPTY_BYTES, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { TRANSFER_TOPIC, transfersFromLogs } from '@tandem/explorer/indexer/token-logs.ts'
import { textOf } from '@tandem/explorer/indexer/token-metadata.ts'
import { describe, expect, test } from 'vitest'

const TOKEN: Hex = `0x${'cc'.repeat(20)}`
const [A, B] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`] as [Hex, Hex]
const topicOf = (address: Hex): Hex => toWord(BigInt(address))
const words = (...values: readonly bigint[]): Uint8Array =>
  concatBytes(...values.map(value => hexToBytes(toWord(value))))
const SINGLE: Hex = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62'
const BATCH: Hex = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb'
const log = (topics: readonly Hex[], data: Uint8Array) => transfersFromLogs({ address: TOKEN, topics, data })

describe('transfers', () => {
  test('ERC-20 has three topics and a word', () => {
    expect(log([TRANSFER_TOPIC, topicOf(A), topicOf(B)], words(5n))).toEqual([
      { standard: 'ERC-20', from: A, to: B, amount: 5n, tokenId: null },
    ])
  })

  test('ERC-721 has four topics', () => {
    expect(log([TRANSFER_TOPIC, topicOf(A), topicOf(B), toWord(9n)], EMPTY_BYTES)).toEqual([
      { standard: 'ERC-721', from: A, to: B, amount: 1n, tokenId: 9n },
    ])
  })

  test('ERC-1155 names an operator first', () => {
    expect(log([SINGLE, topicOf(TOKEN), topicOf(A), topicOf(B)], words(7n, 3n))).toEqual([
      { standard: 'ERC-1155', from: A, to: B, amount: 3n, tokenId: 7n },
    ])
    const data = words(64n, 160n, 2n, 1n, 2n, 2n, 10n, 20n)
    expect(log([BATCH, topicOf(TOKEN), topicOf(A), topicOf(B)], data)).toEqual([
      { standard: 'ERC-1155', from: A, to: B, amount: 10n, tokenId: 1n },
      { standard: 'ERC-1155', from: A, to: B, amount: 20n, tokenId: 2n },
    ])
  })

  const sides = [topicOf(A), topicOf(B)] as const
  const batchOf = (data: Uint8Array) => [[BATCH, topicOf(TOKEN), ...sides], data] as const
  test.each<readonly [string, readonly Hex[], Uint8Array]>([
    ['no topics', [], words(1n)],
    ['one topic', [TRANSFER_TOPIC], words(1n, 2n, 3n)],
    ['two topics', [TRANSFER_TOPIC, topicOf(A)], words(1n)],
    ['no data', [TRANSFER_TOPIC, ...sides], EMPTY_BYTES],
    ['too much data', [TRANSFER_TOPIC, ...sides], words(1n, 2n)],
    ['data beside a fourth topic', [TRANSFER_TOPIC, ...sides, toWord(1n)], words(1n)],
    ['an address of 32 bytes', [TRANSFER_TOPIC, toWord(2n ** 200n), topicOf(B)], words(1n)],
    ['a short batch', ...batchOf(words(64n, 96n))],
    ['a batch whose counts differ', ...batchOf(words(64n, 160n, 2n, 1n, 2n, 1n, 10n, 20n))],
    ['a batch that says it has more than there is', ...batchOf(words(64n, 64n, 2n ** 31n, 1n))],
    ['a batch with an offset of 256 bits', ...batchOf(words(2n ** 255n, 64n, 0n, 0n))],
    ['a batch with an offset at the end', ...batchOf(words(128n, 128n, 0n, 0n))],
  ])('not with %s', (_, topics, data) => {
    expect(log(topics, data)).toEqual([])
  })

  test('a batch of absurd size is left out whole', () => {
    const count = 5_000
    const items = Array.from({ length: count }, () => 1n)
    const data = words(64n, BigInt(64 + 32 * (count + 1)), BigInt(count), ...items, BigInt(count), ...items)
    expect(log([BATCH, topicOf(TOKEN), ...sides], data)).toEqual([])
  })
})

describe('texts of a token', () => {
  const string = (bytes: Uint8Array, length = BigInt(bytes.byteLength)) =>
    concatBytes(words(32n, length), bytes, new Uint8Array((32 - (bytes.byteLength % 32)) % 32))
  const utf8 = (text: string) => new TextEncoder().encode(text)

  test('an ABI string and 32 bytes', () => {
    expect(textOf(string(utf8('Gold')), 64)).toBe('Gold')
    expect(textOf(concatBytes(utf8('MKR'), new Uint8Array(29)), 64)).toBe('MKR')
  })

  test.each<readonly [string, Uint8Array | undefined, string | null]>([
    ['nothing', undefined, null],
    ['empty', EMPTY_BYTES, null],
    ['a length beyond the data', string(utf8('x'), 2n ** 250n), null],
    ['an offset elsewhere', concatBytes(words(64n, 1n), utf8('x')), null],
    ['control characters and a turned direction', string(utf8('A\u0000B\u202EC\u200B<script>')), 'ABC<script>'],
    ['bytes that are no UTF-8', string(Uint8Array.of(0xff, 0x41)), '\uFFFDA'],
    ['only blanks', string(utf8('   ')), null],
  ])('%s', (_, output, expected) => {
    expect(textOf(output, 64)).toBe(expected)
  })

  test('long ones are cut by characters', () => {
    expect(textOf(string(utf8('\u{1F600}'.repeat(100))), 64)).toBe('\u{1F600}'.repeat(64))
  })
})
