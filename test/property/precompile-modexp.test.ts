import { concatBytes, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SEED } from '../support/seed.ts'
import { bothWays } from '../unit/evm/precompile-pair.ts'

const word = (value: number | bigint): Uint8Array => hexToBytes(toWord(BigInt(value)))
const upTo = (size: number) => fc.uint8Array({ maxLength: size })

/** Even ones, powers of two and numbers whose bits are all set have their own ways through the code. */
const modulus = fc.oneof(
  { weight: 4, arbitrary: upTo(40) },
  upTo(150),
  fc.constantFrom(4, 8, 12, 16, 28, 32).chain(size => fc.uint8Array({ minLength: size, maxLength: size })),
  fc
    .tuple(fc.constantFrom(32n, 64n, 96n, 128n, 160n, 256n), fc.bigInt(1n, 9n))
    .map(([bits, less]) => hexToBytes(bytesOf(2n ** bits - less))),
  fc.tuple(fc.bigInt(0n, 2n ** 64n), fc.nat(1_100)).map(([odd, twos]) => hexToBytes(bytesOf(odd << BigInt(twos)))),
  fc.nat(140).map(size => new Uint8Array(size).fill(0xff)),
)
const bytesOf = (value: bigint): `0x${string}` => {
  const digits = value.toString(16)
  return `0x${digits.length & 1 ? '0' : ''}${digits}`
}
const exponent = fc.oneof(
  upTo(48),
  upTo(3),
  fc.tuple(fc.nat(40), upTo(20)).map(([zeros, rest]) => concatBytes(new Uint8Array(zeros), rest)),
)
/** Lengths that fit what follows, or do not. */
const length = (bytes: Uint8Array) =>
  fc.oneof(
    { weight: 8, arbitrary: fc.constant(BigInt(bytes.byteLength)) },
    fc.bigInt(0n, 80n),
    fc.constantFrom(1_024n, 1_025n, 2n ** 31n, 2n ** 256n - 1n),
  )
const input = fc
  .tuple(upTo(150), exponent, modulus)
  .chain(parts => fc.tuple(fc.constant(parts), ...(parts.map(length) as [fc.Arbitrary<bigint>])))
  .map(([parts, ...lengths]) => concatBytes(...lengths.map(word), ...parts))
const cut = fc.tuple(input, fc.nat(120)).map(([bytes, size]) => bytes.subarray(0, size))

test("MODEXP (0x05) answers and costs what EthereumJS' own does", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 8, arbitrary: input }, cut),
      fc.constantFrom('byzantium', 'cancun', 'osaka'),
      fc.constantFrom(0n, 500n, 10n ** 7n),
      async (data, fork, gas) => {
        const { ours, theirs } = await bothWays(fork, 5, data, gas)
        expect(ours).toEqual(theirs)
      },
    ),
    { seed: SEED, numRuns: 3_000 },
  )
})

/** Small ones, those whose bits are all set, powers of two with their neighbours, and leading zeros, of up to 33 bytes. */
const short = fc.oneof(
  upTo(33),
  fc.integer({ min: 0, max: 33 }).map(size => new Uint8Array(size).fill(0xff)),
  fc
    .tuple(fc.integer({ min: 1, max: 32 }), fc.nat(255))
    .map(([size, last]) => new Uint8Array(size).fill(last, size - 1)),
  fc.tuple(fc.bigInt(0n, 255n), fc.bigInt(-3n, 3n)).map(([bits, by]) => {
    const value = 2n ** bits + by
    return hexToBytes(bytesOf(value < 0n ? 0n : value))
  }),
)

test('MODEXP of short operands at once is the same', async () => {
  const whole = fc
    .tuple(short, short, short)
    .map(parts => concatBytes(...parts.map(({ byteLength }) => word(byteLength)), ...parts))
  const data = fc.oneof(
    { weight: 6, arbitrary: whole },
    fc.tuple(whole, fc.nat(200)).map(([bytes, size]) => bytes.subarray(0, size)),
    fc.tuple(whole, fc.nat(95), fc.nat(40)).map(([bytes, at, value]) => bytes.with(at, value)),
  )
  await fc.assert(
    fc.asyncProperty(
      data,
      fc.constantFrom('istanbul', 'berlin', 'cancun', 'osaka'),
      fc.constantFrom(0n, 199n, 499n, 10n ** 7n),
      async (bytes, fork, gas) => {
        const { ours, theirs } = await bothWays(fork, 5, bytes, gas)
        expect(ours).toEqual(theirs)
      },
    ),
    { seed: SEED, numRuns: 3_000 },
  )
})
