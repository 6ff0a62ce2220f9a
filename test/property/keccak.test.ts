import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keccak256, keccak256Hex, keccak256Into, keccak256Parts, keccak256PartsInto } from '../../src/crypto/hash.ts'

const seed = Number(process.env['SEED'] ?? 20_250_217)
const parameters = (numRuns: number) => ({ seed, numRuns })

/** Lengths around the rate of 136 and around the window of 240 blocks, where whole blocks meet rests. */
const RATE = 136
const WINDOW = RATE * 240
const length = fc.oneof(
  fc.nat(300),
  fc
    .tuple(
      fc.constantFrom(RATE, 2 * RATE, 3 * RATE, WINDOW, WINDOW + RATE, 2 * WINDOW),
      fc.integer({ min: -2, max: 2 }),
    )
    .map(([at, by]) => at + by),
  fc.nat(3 * WINDOW),
)
const fill = (size: number, start: number): Uint8Array =>
  Uint8Array.from({ length: size }, (_, i) => (start + i * 31 + (i >> 8)) & 255)
const bytes = fc.tuple(length, fc.nat(255)).map(([size, start]) => fill(size, start))

test('equals the reference implementation at any length', () => {
  fc.assert(
    fc.property(bytes, input => {
      const expected = keccak_256(input)
      expect(keccak256(input)).toEqual(expected)
      expect(keccak256Hex(input)).toBe(bytesToHex(expected))
      const out = new Uint8Array(40)
      keccak256Into(input, out, 4)
      expect(out.subarray(4, 36)).toEqual(expected)
    }),
    parameters(200),
  )
})

test('the hash of parts is that of the whole', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.uint8Array({ maxLength: 200 }), bytes), { maxLength: 5 }), parts => {
      const expected = keccak_256(Buffer.concat(parts))
      expect(keccak256Parts(parts)).toEqual(expected)
      const out = new Uint8Array(33)
      keccak256PartsInto(parts, out)
      expect(out.subarray(0, 32)).toEqual(expected)
    }),
    parameters(100),
  )
})

test('every length up to three blocks', () => {
  for (let size = 0; size <= 3 * RATE + 1; size++) {
    const input = fill(size, size)
    expect(keccak256(input)).toEqual(keccak_256(input))
  }
})

test('a hash once answered does not change with the next', () => {
  const first = keccak256(fill(5, 0))
  const copy = Uint8Array.from(first)
  keccak256(fill(6, 0))
  expect(first).toEqual(copy)
})
