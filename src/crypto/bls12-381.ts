import type { G1, G2, GT, PrecomputedG2 } from 'mcl-wasm'
import { bytesToHex } from '../util/bytes.ts'

/* Curve BLS12-381 by mcl, a WebAssembly module of 30 MB of memory, loaded at the first call. */

export type Mcl = typeof import('mcl-wasm')
export type { G1, G2, GT, PrecomputedG2 }

let loading: Promise<Mcl> | undefined

export const loadMcl = (): Promise<Mcl> => {
  loading ??= import('mcl-wasm').then(async ({ default: mcl }) => {
    await mcl.init(mcl.BLS12_381)
    return mcl
  })
  return loading
}

const PRIME = 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn
const HALF_PRIME = PRIME / 2n

/** Flags in the first byte of a compressed point: compressed, infinity, and y being the greater of the two. */
const COMPRESSED = 0x80
const INFINITY = 0x40
const GREATER = 0x20

const fieldFrom = (mcl: Mcl, value: bigint) => {
  const element = new mcl.Fp()
  element.setStr(value.toString(16), 16)
  return element
}

/** Creates a point of G1 from affine coordinates, which must be below the prime; the curve equation is not checked. */
export const g1From = (mcl: Mcl, x: bigint, y: bigint): G1 => {
  const point = new mcl.G1()
  point.setX(fieldFrom(mcl, x))
  point.setY(fieldFrom(mcl, y))
  point.setZ(fieldFrom(mcl, 1n))
  return point
}

/** Creates a point of G2 likewise, each coordinate as real and imaginary part. */
export const g2From = (mcl: Mcl, x: readonly [bigint, bigint], y: readonly [bigint, bigint]): G2 => {
  const [a, b, one] = [new mcl.Fp2(), new mcl.Fp2(), new mcl.Fp2()]
  for (const [element, [real, imaginary]] of [
    [a, x],
    [b, y],
    [one, [1n, 0n]],
  ] as const) {
    element.set_a(fieldFrom(mcl, real))
    element.set_b(fieldFrom(mcl, imaginary))
  }
  const point = new mcl.G2()
  point.setX(a)
  point.setY(b)
  point.setZ(one)
  return point
}

/**
 * Decompresses a point of G1 from 48 bytes; undefined unless they are the canonical encoding of a point of the
 * subgroup.
 */
export const decompressG1 = (mcl: Mcl, bytes: Uint8Array): G1 | undefined => {
  const flags = (bytes[0] as number) & 0xe0
  const x = BigInt(bytesToHex(bytes)) & (2n ** 381n - 1n)
  if (flags === (COMPRESSED | INFINITY)) return x === 0n ? new mcl.G1() : undefined
  if ((flags & (COMPRESSED | INFINITY)) !== COMPRESSED || x >= PRIME) return undefined
  const [exists, root] = mcl.squareRoot(fieldFrom(mcl, (x * x * x + 4n) % PRIME))
  if (!exists) return undefined
  const y = BigInt(`0x${root.getStr(16)}`)
  const isGreater = y > HALF_PRIME
  const point = g1From(mcl, x, isGreater === ((flags & GREATER) !== 0) ? y : PRIME - y)
  return point.isValid() && point.isValidOrder() ? point : undefined
}
