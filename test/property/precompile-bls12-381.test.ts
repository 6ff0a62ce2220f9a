import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bytesToBigint, concatBytes, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { createMclPoints, createNativePoints } from '../../src/crypto/bls12-381/choose-points.ts'
import { loadMcl } from '../../src/crypto/bls12-381/mcl.ts'
import type { BlsPoints } from '../../src/crypto/bls12-381/points.ts'
import { SEED } from '../support/seed.ts'
import { bothWays, type Outcome } from '../unit/evm/precompile-pair.ts'

const G1 = bls12_381.G1.Point
const G2 = bls12_381.G2.Point
const { Fp, Fr, Fp2 } = bls12_381.fields
const P = Fp.ORDER
const R = Fr.ORDER

const field = (value: bigint): Uint8Array => hexToBytes(`0x${value.toString(16).padStart(128, '0')}`)
const word = (value: bigint): Uint8Array => hexToBytes(toWord(value))
const near = (top: bigint) => fc.oneof(fc.bigInt(0n, top - 1n), fc.constantFrom(0n, 1n, 2n, top - 2n, top - 1n))
const scalar = near(R)
const coordinate = fc.oneof({ weight: 3, arbitrary: near(P) }, fc.constantFrom(P, P + 1n, 2n ** 384n, 2n ** 511n))

const g1Bytes = (n: bigint): Uint8Array => {
  if (n === 0n) return new Uint8Array(128)
  const { x, y } = G1.BASE.multiply(n).toAffine()
  return concatBytes(field(x), field(y))
}
const g2Bytes = (n: bigint): Uint8Array => {
  if (n === 0n) return new Uint8Array(256)
  const { x, y } = G2.BASE.multiply(n).toAffine()
  return concatBytes(field(x.c0), field(x.c1), field(y.c0), field(y.c1))
}
/** On the curve, but hardly ever in the subgroup. */
const anyG1 = (seed: bigint): Uint8Array => {
  for (let x = seed; ; x++) {
    try {
      return concatBytes(field(x % P), field(Fp.sqrt(Fp.create(x ** 3n + 4n))))
    } catch {}
  }
}
const anyG2 = (seed: bigint): Uint8Array => {
  for (let c0 = seed; ; c0++) {
    const x = Fp2.fromBigTuple([c0 % P, 3n])
    try {
      const y = Fp2.sqrt(Fp2.add(Fp2.mul(Fp2.sqr(x), x), Fp2.fromBigTuple([4n, 4n])))
      return concatBytes(field(x.c0), field(x.c1), field(y.c0), field(y.c1))
    } catch {}
  }
}
const damaged = (bytes: fc.Arbitrary<Uint8Array>) =>
  fc.tuple(bytes, fc.nat(3), coordinate).map(([original, at, value]) => {
    const copy = Uint8Array.from(original)
    copy.set(field(value), (at * 64) % original.byteLength)
    return copy
  })
const g1 = fc.oneof(
  { weight: 6, arbitrary: scalar.map(g1Bytes) },
  damaged(scalar.map(g1Bytes)),
  fc.bigInt(0n, 10n ** 6n).map(anyG1),
)
const g2 = fc.oneof(
  { weight: 6, arbitrary: scalar.map(g2Bytes) },
  damaged(scalar.map(g2Bytes)),
  fc.bigInt(0n, 10n ** 6n).map(anyG2),
)
const factor = fc.oneof(scalar, fc.bigInt(0n, 2n ** 256n - 1n), fc.constantFrom(R, R + 1n, 2n ** 256n - 1n)).map(word)
const joined = (parts: readonly (Uint8Array | readonly Uint8Array[])[]): Uint8Array =>
  concatBytes(...(parts.flat() as Uint8Array[]))

/**
 * A failure takes all gas and answers nothing, whatever its reason is called: @noble/curves refuses a y of zero before it looks at
 * the curve, mcl because it is on none.
 */
const judged = ({ error, ...rest }: Outcome) => ({ ...rest, failed: error !== undefined })

const same = (number: number, data: fc.Arbitrary<Uint8Array>, numRuns: number) =>
  fc.assert(
    fc.asyncProperty(fc.oneof({ weight: 15, arbitrary: data }, fc.uint8Array({ maxLength: 400 })), async bytes => {
      const { ours, theirs } = await bothWays('prague', number, bytes)
      expect(judged(ours)).toEqual(judged(theirs))
    }),
    { seed: SEED, numRuns },
  )

describe("BLS12-381 (EIP-2537) answers and costs what EthereumJS' own does", () => {
  test.each([
    ['sums of G1', 0x0b, fc.tuple(g1, g1).map(joined), 60],
    ['equal and opposite points of G1', 0x0b, scalar.map(n => joined([g1Bytes(n), g1Bytes(n && R - n)])), 10],
    [
      'multiples of G1',
      0x0c,
      fc.array(fc.tuple(g1, factor), { minLength: 1, maxLength: 11 }).map(list => joined(list.flat())),
      25,
    ],
    ['sums of G2', 0x0d, fc.tuple(g2, g2).map(joined), 40],
    [
      'multiples of G2',
      0x0e,
      fc.array(fc.tuple(g2, factor), { minLength: 1, maxLength: 6 }).map(list => joined(list.flat())),
      20,
    ],
    ['pairings', 0x0f, fc.array(fc.tuple(g1, g2), { minLength: 1, maxLength: 3 }).map(list => joined(list.flat())), 20],
    [
      'pairings whose product is 1',
      0x0f,
      fc
        .tuple(scalar, scalar)
        .map(([a, b]) => joined([g1Bytes(a), g2Bytes(b), g1Bytes((R - ((a * b) % R)) % R), g2Bytes(1n)])),
      5,
    ],
    ['maps to G1', 0x10, coordinate.map(field), 30],
    ['maps to G2', 0x11, fc.tuple(coordinate, coordinate).map(parts => joined(parts.map(field))), 30],
  ] as const)('%s', (_, number, data, runs) => same(number, data, runs))
})

const native = process.arch === 'x64' && process.platform === 'linux' ? [createNativePoints] : []
const LIBRARIES: readonly (() => BlsPoints | Promise<BlsPoints>)[] = [
  async () => createMclPoints(await loadMcl()),
  ...native,
]

describe.each(LIBRARIES.map((load, at) => [at === 0 ? 'mcl' : 'blst', load] as const))('points by %s', (_, load) => {
  let points: BlsPoints
  beforeAll(async () => {
    points = await load()
  })
  /** Of the encoding of EIP-2537, whose coordinates are below the prime. */
  const unpadded = (bytes: Uint8Array): Uint8Array =>
    concatBytes(...Array.from({ length: bytes.byteLength / 64 }, (_, i) => bytes.subarray(i * 64 + 16, i * 64 + 64)))
  const coordinates = (bytes: Uint8Array): readonly bigint[] =>
    Array.from({ length: bytes.byteLength / 64 }, (_, i) => bytesToBigint(bytes.subarray(i * 64, i * 64 + 64)))
  const inField = (bytes: Uint8Array): boolean => coordinates(bytes).every(value => value < P)
  const pointOfG1 = (bytes: Uint8Array) => {
    const [x = 0n, y = 0n] = coordinates(bytes)
    return x === 0n && y === 0n ? G1.ZERO : G1.fromAffine({ x, y })
  }
  const pointOfG2 = (bytes: Uint8Array) => {
    const [x0 = 0n, x1 = 0n, y0 = 0n, y1 = 0n] = coordinates(bytes)
    if (x0 === 0n && x1 === 0n && y0 === 0n && y1 === 0n) return G2.ZERO
    return G2.fromAffine({ x: Fp2.fromBigTuple([x0, x1]), y: Fp2.fromBigTuple([y0, y1]) })
  }
  type Point = ReturnType<typeof pointOfG1> | ReturnType<typeof pointOfG2>
  const isInSubgroup = (point: Point): boolean => {
    try {
      point.assertValidity()
      return true
    } catch {
      return point.is0()
    }
  }
  const isOnG1 = (bytes: Uint8Array): boolean => {
    const [x = 0n, y = 0n] = coordinates(bytes)
    return (x === 0n && y === 0n) || (x ** 3n + 4n - y ** 2n) % P === 0n
  }
  const checked = { seed: SEED, numRuns: 40 }

  test('G1: sums and the check of the subgroup', () => {
    fc.assert(
      fc.property(g1.filter(inField), g1.filter(inField), (a, b) => {
        const sum = points.addG1(unpadded(a), unpadded(b))
        if (!isOnG1(a) || !isOnG1(b)) expect(sum).toBeUndefined()
        else {
          const { x, y } = pointOfG1(a).add(pointOfG1(b)).toAffine()
          expect(sum).toEqual(unpadded(concatBytes(field(x), field(y))))
        }
        expect(points.isInG1(unpadded(a))).toBe(isOnG1(a) && isInSubgroup(pointOfG1(a)))
      }),
      checked,
    )
  })

  test('G2: sums and the check of the subgroup', () => {
    const isOnG2 = (bytes: Uint8Array): boolean => {
      if (bytes.every(byte => byte === 0)) return true
      const { x, y } = pointOfG2(bytes)
      return Fp2.eql(Fp2.sqr(y), Fp2.add(Fp2.mul(Fp2.sqr(x), x), Fp2.fromBigTuple([4n, 4n])))
    }
    fc.assert(
      fc.property(g2.filter(inField), g2.filter(inField), (a, b) => {
        const sum = points.addG2(unpadded(a), unpadded(b))
        if (!isOnG2(a) || !isOnG2(b)) expect(sum).toBeUndefined()
        else {
          const { x, y } = pointOfG2(a).add(pointOfG2(b)).toAffine()
          expect(sum).toEqual(unpadded(concatBytes(...[x.c0, x.c1, y.c0, y.c1].map(field))))
        }
        expect(points.isInG2(unpadded(a))).toBe(isOnG2(a) && isInSubgroup(pointOfG2(a)))
      }),
      checked,
    )
  })

  test('a point, itself and its opposite', () => {
    for (const [base, other] of [
      [g1Bytes, points.addG1],
      [g2Bytes, points.addG2],
    ] as const) {
      const sum = (a: bigint, b: bigint) => other(unpadded(base(a)), unpadded(base(b)))
      expect(sum(5n, 5n)).toEqual(unpadded(base(10n)))
      expect(sum(5n, R - 5n)).toEqual(unpadded(base(0n)))
      expect(sum(0n, 5n)).toEqual(unpadded(base(5n)))
      expect(sum(0n, 0n)).toEqual(unpadded(base(0n)))
    }
  })
  const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
  const theirs = (bytes: Uint8Array): string | undefined => {
    try {
      const point = G1.fromHex(hexOf(bytes))
      point.assertValidity()
      return point.is0() ? '0' : point.toHex()
    } catch {
      return undefined
    }
  }
  const ours = (bytes: Uint8Array): string | undefined => {
    const point = points.decompressG1(bytes)
    if (point === undefined || point.every(byte => byte === 0)) return point && '0'
    return G1.fromAffine({ x: bytesToBigint(point.subarray(0, 48)), y: bytesToBigint(point.subarray(48)) }).toHex()
  }

  test('compressed points are read as the reference reads them, in one form only', () => {
    const valid = scalar.map(n => (n === 0n ? G1.ZERO : G1.BASE.multiply(n)).toBytes())
    const flipped = fc.tuple(valid, fc.nat(383)).map(([bytes, bit]) => {
      const copy = Uint8Array.from(bytes)
      copy[bit >> 3] = (copy[bit >> 3] as number) ^ (0x80 >> (bit & 7))
      return copy
    })
    const flags = fc.tuple(valid, fc.nat(7)).map(([bytes, top]) => {
      const copy = Uint8Array.from(bytes)
      copy[0] = ((copy[0] as number) & 0x1f) | (top << 5)
      return copy
    })
    const any = fc.uint8Array({ minLength: 48, maxLength: 48 })
    fc.assert(
      fc.property(fc.oneof(valid, flipped, flags, any), bytes => {
        expect(ours(bytes)).toBe(theirs(bytes))
      }),
      { seed: SEED, numRuns: 200 },
    )
  })
})
