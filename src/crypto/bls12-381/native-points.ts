import { createRequire } from 'node:module'
import { concatBytes } from '@tandem/base/bytes.ts'
import { type BlsPoints, FIELD_BYTES, G1_BYTES, G2_BYTES, isInfinity } from './points.ts'

/** Part of the package's API used here: its keys are points of G1, its signatures points of G2. */
interface Blst {
  readonly PublicKey: PointClass
  readonly Signature: PointClass
  aggregateSerializedPublicKeys(keys: Uint8Array[], validates: boolean): Point
  aggregateSerializedSignatures(signatures: Uint8Array[], validates: boolean): Point
}
interface PointClass {
  fromBytes(bytes: Uint8Array, validates: boolean): Point
}
interface Point {
  toBytes(compresses: boolean): Uint8Array
}

/** Flags in the first byte of the library's encoding. */
const COMPRESSED = 0x80
const INFINITY = 0x40

const encoded = (point: Uint8Array): Uint8Array => {
  if (!isInfinity(point)) return point
  const bytes = new Uint8Array(point.byteLength)
  bytes[0] = INFINITY
  return bytes
}
const decoded = (bytes: Uint8Array): Uint8Array =>
  ((bytes[0] as number) & INFINITY) === 0 ? bytes : new Uint8Array(bytes.byteLength)

/** Coordinates in Fp2 with their parts in the other order: the library's encoding begins with c1. */
const swapped = (point: Uint8Array): Uint8Array => {
  const part = (index: number): Uint8Array => point.subarray(index * FIELD_BYTES, (index + 1) * FIELD_BYTES)
  return concatBytes(part(1), part(0), part(3), part(2))
}

/** Result of a function of the library; undefined where it throws, as it does for bytes that are no point. */
const pointOf = (compute: () => Point): Uint8Array | undefined => {
  try {
    return compute().toBytes(false)
  } catch {
    return undefined
  }
}

/** Points by blst as a native addon. Throws where there is no addon for this platform. */
export const createNativePoints = (): BlsPoints => {
  const blst: Blst = createRequire(import.meta.url)('@chainsafe/blst')
  return {
    name: 'blst-native',
    addG1(a, b) {
      const sum = pointOf(() => blst.aggregateSerializedPublicKeys([encoded(a), encoded(b)], false))
      return sum && decoded(sum)
    },
    addG2(a, b) {
      const sum = pointOf(() => blst.aggregateSerializedSignatures([encoded(swapped(a)), encoded(swapped(b))], false))
      return sum && swapped(decoded(sum))
    },
    // With its checks the library refuses infinity too, which belongs to the subgroup.
    isInG1: point =>
      point.byteLength === G1_BYTES &&
      (isInfinity(point) || pointOf(() => blst.PublicKey.fromBytes(point, true)) !== undefined),
    isInG2: point =>
      point.byteLength === G2_BYTES &&
      (isInfinity(point) || pointOf(() => blst.Signature.fromBytes(swapped(point), true)) !== undefined),
    decompressG1(bytes) {
      const flags = bytes[0] as number
      if (bytes.byteLength !== FIELD_BYTES || (flags & COMPRESSED) === 0) return undefined
      if (flags === (COMPRESSED | INFINITY) && isInfinity(bytes.subarray(1))) return new Uint8Array(G1_BYTES)
      return pointOf(() => blst.PublicKey.fromBytes(bytes, true))
    },
  }
}
