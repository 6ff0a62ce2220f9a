import { RLP } from '@ethereumjs/rlp'
import { bytesToHex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RLP_BOUNDS } from '../../src/config/protocol-bounds.ts'
import { decodeRlp, encodeRlp, type RlpItem } from '../../src/primitives/rlp/rlp.ts'
import { RlpCursor } from '../../src/primitives/rlp/rlp-cursor.ts'

const seed = Number(process.env['SEED'] ?? 20_250_217)

/** Lengths on both sides of the borders: one byte, 55, 256. */
const bytes = fc.oneof(
  { weight: 4, arbitrary: fc.uint8Array({ maxLength: 3 }) },
  { weight: 2, arbitrary: fc.uint8Array({ minLength: 50, maxLength: 60 }) },
  { weight: 1, arbitrary: fc.uint8Array({ minLength: 250, maxLength: 260 }) },
)
const item = fc.letrec<{ item: RlpItem; list: readonly RlpItem[] }>(tie => ({
  item: fc.oneof({ maxDepth: 5 }, bytes, tie('list')),
  list: fc.array(tie('item'), { maxLength: 12 }),
})).item

const accepted = (input: Uint8Array, decode = decodeRlp): RlpItem | undefined => {
  try {
    return decode(input)
  } catch (error) {
    if (isCoded(error) && error.code === 'RLP_INVALID') return undefined
    throw error
  }
}

test('decoding is the inverse of encoding, and EthereumJS encodes the same', () => {
  fc.assert(
    fc.property(item, value => {
      const encoded = encodeRlp(value)
      expect(decodeRlp(encoded)).toEqual(value)
      expect(bytesToHex(encoded)).toBe(bytesToHex(RLP.encode(value as Parameters<typeof RLP.encode>[0])))
    }),
    { seed, numRuns: 2_000 },
  )
})

// One byte of a good encoding changed, cut or added.
const damaged = fc
  .tuple(item, fc.nat(), fc.nat(255), fc.constantFrom('change', 'cut', 'add'))
  .map(([value, where, byte, how]) => {
    const encoded = [...encodeRlp(value)]
    const at = where % encoded.length
    if (how === 'change') encoded[at] = byte
    else if (how === 'cut') encoded.splice(at, 1)
    else encoded.splice(at, 0, byte)
    return Uint8Array.from(encoded)
  })
/** Long lengths by chance: what claims more than there is, and what has zeros in front. */
const lengths = fc
  .tuple(fc.constantFrom(0xb7, 0xb8, 0xb9, 0xba, 0xbb, 0xbf, 0xf7, 0xf8, 0xf9, 0xff), fc.uint8Array({ maxLength: 70 }))
  .map(([first, rest]) => Uint8Array.of(first, ...rest))
/** A payload behind a length of so many bytes, whether or not a shorter form would do. */
const longForms = fc
  .tuple(fc.constantFrom(0xb7, 0xf7), fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 300 }))
  .map(([base, lengthBytes, size]) => {
    const length = Buffer.alloc(lengthBytes)
    length.writeUIntBE(lengthBytes === 1 ? size & 255 : size, 0, lengthBytes)
    const payload = Buffer.alloc(lengthBytes === 1 ? size & 255 : size, 0x01)
    return new Uint8Array(Buffer.concat([Uint8Array.of(base + lengthBytes), length, payload]))
  })
const input = fc.oneof(damaged, lengths, longForms, fc.uint8Array({ maxLength: 40 }))

test('whatever is accepted has this one encoding', () => {
  let refused = 0
  fc.assert(
    fc.property(input, bytes => {
      const value = accepted(bytes)
      if (value === undefined) refused++
      else expect(encodeRlp(value)).toEqual(bytes)
    }),
    { seed, numRuns: 5_000 },
  )
  expect(refused).toBeGreaterThan(100)
})

const readItem = (cursor: RlpCursor): RlpItem => {
  if (!cursor.nextIsList()) return cursor.bytes()
  const outer = cursor.openList()
  const items: RlpItem[] = []
  while (cursor.hasMore()) items.push(readItem(cursor))
  cursor.closeList(outer)
  return items
}

test('the cursor takes and refuses what the decoder does', () => {
  const byCursor = (bytes: Uint8Array): RlpItem => {
    const cursor = new RlpCursor(bytes)
    const value = readItem(cursor)
    cursor.finish()
    return value
  }
  fc.assert(
    fc.property(fc.oneof(item.map(encodeRlp), input), bytes => {
      expect(accepted(bytes, byCursor)).toEqual(accepted(bytes))
    }),
    { seed, numRuns: 5_000 },
  )
})

test('integers of the cursor are canonical and inside their bounds', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 34 }), fc.constantFrom(8, 32), (bytes, width) => {
      const isGood = bytes.byteLength <= width && bytes[0] !== 0
      const value = isGood ? BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`) : undefined
      const read = (how: (cursor: RlpCursor) => bigint | number): bigint | undefined => {
        const found = accepted(encodeRlp(bytes), encoded => how(new RlpCursor(encoded)) as never)
        return found === undefined ? undefined : BigInt(found as never)
      }
      expect(read(cursor => cursor.uint(width))).toBe(value)
      const safe = value !== undefined && value <= BigInt(Number.MAX_SAFE_INTEGER) ? value : undefined
      expect(read(cursor => cursor.safeUint())).toBe(bytes.byteLength <= 8 ? safe : undefined)
    }),
    { seed, numRuns: 2_000 },
  )
})

test.each([
  ['depth', (n: number) => encodeRlp(Array.from({ length: n }).reduce<RlpItem>(inner => [inner], new Uint8Array(0)))],
  ['items', (n: number) => encodeRlp(Array.from({ length: n - 1 }, () => new Uint8Array(0)))],
] as const)('the bound of %s is met, and not beyond', (bound, of) => {
  expect(accepted(of(RLP_BOUNDS[bound]))).toBeDefined()
  expect(accepted(of(RLP_BOUNDS[bound] + 1))).toBeUndefined()
})
