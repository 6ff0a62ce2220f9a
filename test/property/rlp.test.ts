import { RLP } from '@ethereumjs/rlp'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeRlp, encodeRlp, type RlpItem } from '../../src/primitives/rlp.ts'
import { bytesToHex } from '../../src/util/bytes.ts'
import { isCoded } from '../../src/util/errors.ts'

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

const accepted = (input: Uint8Array): RlpItem | undefined => {
  try {
    return decodeRlp(input)
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

test('whatever is accepted has this one encoding', () => {
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
  let refused = 0
  fc.assert(
    fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 40 })), input => {
      const value = accepted(input)
      if (value === undefined) refused++
      else expect(encodeRlp(value)).toEqual(input)
    }),
    { seed, numRuns: 5_000 },
  )
  expect(refused).toBeGreaterThan(100)
})
