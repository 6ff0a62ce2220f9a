import { bigintToBytes, bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { RLP_BOUNDS } from '../../../../src/config/protocol-bounds.ts'
import { decodeRlp, decodeRlpList, encodeRlp, encodeRlpList, type RlpItem } from '../../../../src/primitives/rlp/rlp.ts'
import { RlpCursor } from '../../../../src/primitives/rlp/rlp-cursor.ts'
import invalid from '../fixtures/rlp-invalid.json' with { type: 'json' }
import valid from '../fixtures/rlp-valid.json' with { type: 'json' }
import { codeOf } from '../support.ts'

/** The vectors write byte strings as text, integers as numbers or as decimal text after #. */
const itemOf = (value: unknown): RlpItem => {
  if (Array.isArray(value)) return value.map(itemOf)
  if (typeof value === 'number') return bigintToBytes(BigInt(value))
  const text = value as string
  return text.startsWith('#') ? bigintToBytes(BigInt(text.slice(1))) : new TextEncoder().encode(text)
}

describe('vectors of ethereum/tests', () => {
  test.each(Object.entries(valid))('%s', (_, vector) => {
    const item = itemOf(vector.in)
    expect(bytesToHex(encodeRlp(item))).toBe(vector.out.toLowerCase())
    expect(decodeRlp(hexToBytes(vector.out as Hex))).toEqual(item)
  })

  test.each(Object.entries(invalid))('%s is refused', (_, vector) => {
    // Some of them are written without 0x.
    const bytes = hexToBytes(`0x${vector.out.replace(/^0x/, '')}`)
    expect(codeOf(() => decodeRlp(bytes))).toBe('RLP_INVALID')
  })
})

describe('strict decoding', () => {
  test.each([
    ['no bytes', '0x'],
    ['bytes after the item', '0x8000'],
    ['a small byte with a prefix', '0x8100'],
    ['a long prefix for a short string', `0xb837${'11'.repeat(55)}`],
    ['a length with a leading zero', `0xb90038${'11'.repeat(56)}`],
    ['a long prefix for a short list', `0xf837${'80'.repeat(55)}`],
    ['a string beyond the end', '0x8211'],
    ['an item beyond its list', '0xc28311'],
    ['a length of eight bytes', '0xbfffffffffffffffff'],
    ['a length without all its bytes', '0xb9'],
  ])('refuses %s', (_, hex) => {
    expect(codeOf(() => decodeRlp(hexToBytes(hex as Hex)))).toBe('RLP_INVALID')
  })

  test('bounds the depth of lists', () => {
    const nested = (depth: number): RlpItem => (depth === 0 ? [] : [nested(depth - 1)])
    const deepest = encodeRlp(nested(RLP_BOUNDS.depth - 1))
    expect(decodeRlp(deepest)).toBeDefined()
    expect(codeOf(() => decodeRlp(encodeRlp(nested(RLP_BOUNDS.depth))))).toBe('RLP_INVALID')
  })

  test('bounds the number of items', () => {
    const many = encodeRlp(Array.from({ length: RLP_BOUNDS.items }, () => new Uint8Array(0)))
    expect(codeOf(() => decodeRlp(many))).toBe('RLP_INVALID')
  })

  test('answers views, not copies', () => {
    const bytes = encodeRlp([Uint8Array.of(1, 2, 3)])
    const [item] = decodeRlpList(bytes)
    expect((item as Uint8Array).buffer).toBe(bytes.buffer)
  })

  test('an item that should be a list and is none', () => {
    expect(codeOf(() => decodeRlpList(Uint8Array.of(0x80)))).toBe('RLP_INVALID')
  })
})

describe('integers', () => {
  test.each([0n, 1n, 127n, 128n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 53n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 256n - 1n])(
    'the cursor reads %s',
    value => {
      expect(new RlpCursor(encodeRlp(bigintToBytes(value))).uint(32)).toBe(value)
    },
  )

  test('a number loses no digit', () => {
    const read = (value: bigint) => new RlpCursor(encodeRlp(bigintToBytes(value))).safeUint()
    expect(read(2n ** 53n - 1n)).toBe(Number.MAX_SAFE_INTEGER)
    expect(codeOf(() => read(2n ** 53n))).toBe('RLP_INVALID')
  })
})

test('a list of encoded items is the encoding of the list', () => {
  const items: RlpItem[] = [[], Uint8Array.of(5), new Uint8Array(300), [new Uint8Array(60)]]
  expect(encodeRlpList(items.map(encodeRlp))).toEqual(encodeRlp(items))
})
