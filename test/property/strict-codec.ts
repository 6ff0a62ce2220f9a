import { isCoded } from '@tandem/base/errors.ts'
import fc from 'fast-check'
import { expect } from 'vitest'

/**
 * A decoder answers what encodes to exactly these bytes, or says in its own code that they are malformed; it never does anything else.
 * Answers whether the bytes were refused.
 */
export const expectStrict = <T>(
  input: Uint8Array,
  decode: (input: Uint8Array) => T,
  encode: (value: T) => Uint8Array,
): boolean => {
  let value: T
  try {
    value = decode(input)
  } catch (error) {
    if (!isCoded(error) || !error.code.endsWith('_MALFORMED')) throw error
    return true
  }
  expect(Buffer.from(encode(value)).equals(input), 'what is accepted encodes to the same bytes').toBe(true)
  return false
}

/** Bytes with one thing wrong, mostly near the start, where lengths and kinds stand. */
export const damaged = (encoded: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(
      encoded,
      fc.oneof(fc.nat(40), fc.nat()),
      fc.oneof(fc.constantFrom(0x00, 0x01, 0x7f, 0x80, 0x81, 0xb8, 0xb9, 0xc0, 0xc1, 0xf8, 0xf9, 0xff), fc.nat(255)),
      fc.constantFrom('change', 'cut', 'add', 'swap'),
    )
    .map(([bytes, where, byte, how]) => {
      const out = [...bytes]
      const at = where % Math.max(1, out.length)
      if (how === 'change') out[at] = byte
      else if (how === 'cut') out.splice(at, 1)
      else if (how === 'add') out.splice(at, 0, byte)
      else out.splice(at, 2, out[at + 1] ?? byte, out[at] ?? byte)
      return Uint8Array.from(out)
    })
