import type { G1, G2 } from 'mcl-wasm'
import { FIELD_BYTES, G1_BYTES, G2_BYTES, isInfinity } from './points.ts'

/* Curve BLS12-381 by mcl, a WebAssembly module of 30 MB of memory, loaded at the first call. */

export type Mcl = typeof import('mcl-wasm')
export type { G1, G2 }

let loading: Promise<Mcl> | undefined

export const loadMcl = (): Promise<Mcl> => {
  loading ??= import('mcl-wasm').then(async ({ default: mcl }) => {
    await mcl.init(mcl.BLS12_381)
    // Otherwise `isValid` checks the order too, which takes a hundred times as long, and which not every caller wants.
    mcl.verifyOrderG1(false)
    mcl.verifyOrderG2(false)
    mcl.setMapToMode(mcl.IRTF)
    return mcl
  })
  return loading
}

const fieldFrom = (mcl: Mcl, bytes: Uint8Array) => {
  const element = new mcl.Fp()
  element.setBigEndianMod(bytes)
  return element
}
const fieldBytes = (element: InstanceType<Mcl['Fp']>): Uint8Array => element.serialize().reverse()
const part = (point: Uint8Array, index: number): Uint8Array =>
  point.subarray(index * FIELD_BYTES, (index + 1) * FIELD_BYTES)

const pairFrom = (mcl: Mcl, bytes: Uint8Array, at: number) => {
  const element = new mcl.Fp2()
  element.set_a(fieldFrom(mcl, part(bytes, at)))
  element.set_b(fieldFrom(mcl, part(bytes, at + 1)))
  return element
}

/** Creates a point of the curve over Fp from its coordinates, below the prime; the curve equation is not checked. */
export const g1From = (mcl: Mcl, bytes: Uint8Array): G1 => {
  const point = new mcl.G1()
  if (isInfinity(bytes)) return point
  point.setX(fieldFrom(mcl, part(bytes, 0)))
  point.setY(fieldFrom(mcl, part(bytes, 1)))
  const one = new mcl.Fp()
  one.setInt(1)
  point.setZ(one)
  return point
}

/** Creates a point of the curve over Fp2 from the bytes of a precompile's input. */
export const g2From = (mcl: Mcl, bytes: Uint8Array): G2 => {
  const point = new mcl.G2()
  if (isInfinity(bytes)) return point
  point.setX(pairFrom(mcl, bytes, 0))
  point.setY(pairFrom(mcl, bytes, 2))
  const one = new mcl.Fp2()
  one.setInt(1, 0)
  point.setZ(one)
  return point
}

/** Maps a field element, below the prime, to the subgroup of G1. */
export const mapToG1 = (mcl: Mcl, bytes: Uint8Array): G1 => fieldFrom(mcl, bytes).mapToG1()

/** Maps an element of Fp2, each part below the prime, to the subgroup of G2. */
export const mapToG2 = (mcl: Mcl, bytes: Uint8Array): G2 => pairFrom(mcl, bytes, 0).mapToG2()

/** Coordinates of a point. */
export const g1Bytes = (point: G1): Uint8Array => {
  const bytes = new Uint8Array(G1_BYTES)
  if (point.isZero()) return bytes
  point.normalize()
  bytes.set(fieldBytes(point.getX()))
  bytes.set(fieldBytes(point.getY()), FIELD_BYTES)
  return bytes
}

/** Coordinates of a point. */
export const g2Bytes = (point: G2): Uint8Array => {
  const bytes = new Uint8Array(G2_BYTES)
  if (point.isZero()) return bytes
  point.normalize()
  const [x, y] = [point.getX(), point.getY()]
  for (const [index, element] of [x.get_a(), x.get_b(), y.get_a(), y.get_b()].entries())
    bytes.set(fieldBytes(element), index * FIELD_BYTES)
  return bytes
}
