import { createRequire } from 'node:module'
import { asBuffer, bytesEqual, bytesToBigint, bytesToHex, concatBytes, hexToBytes } from '@tandem/base/bytes.ts'
import { firstWorking } from '../first-working.ts'
import { type G1, type G2, g1Bytes, g1From, g2Bytes, g2From, loadMcl, type Mcl } from './mcl.ts'
import { type BlsPoints, FIELD_BYTES, G1_BYTES, G2_BYTES, isInfinity } from './points.ts'

/** In order of preference: native code, WebAssembly (a third of its speed). */
const LADDER: readonly (() => BlsPoints | Promise<BlsPoints>)[] = [
  () => createNativePoints(),
  async () => createMclPoints(await loadMcl()),
]

/** Returns the first that loads on this machine and gives the known answer. */
export const choosePoints = async (ladder = LADDER): Promise<BlsPoints> =>
  (await firstWorking(ladder, checkPoints, 'no library of BLS12-381 loads')).provider

let chosen: BlsPoints | undefined
let choosing: Promise<BlsPoints> | undefined

/** Points of this thread; a promise only at the first call. */
export const blsPoints = (): BlsPoints | Promise<BlsPoints> => {
  if (chosen !== undefined) return chosen
  choosing ??= choosePoints().then(points => {
    chosen = points
    return points
  })
  return choosing
}

/** Twice the generator of G1 from its encoding, and what is no point. */
const checkPoints = (points: BlsPoints): void => {
  const generator = points.decompressG1(hexToBytes(`0x${GENERATOR}`))
  const double = generator && points.addG1(generator, generator)
  const offCurve = new Uint8Array(G1_BYTES).fill(1, FIELD_BYTES - 1, FIELD_BYTES)
  const isRight =
    double !== undefined &&
    asBuffer(double.subarray(0, FIELD_BYTES)).toString('hex') === DOUBLE_X &&
    points.isInG1(double) &&
    bytesEqual(points.addG1(double, new Uint8Array(G1_BYTES)) ?? offCurve, double) &&
    points.addG1(double, offCurve) === undefined &&
    !points.isInG1(offCurve)
  if (!isRight) throw new Error(`${points.name} computes wrong results`)
}

const GENERATOR = '97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb'
const DOUBLE_X = '0572cbea904d67468808c8eb50a9450c9721db309128012543902d0ac358a62ae28f75bb8f1c7c42c39a8c5529bf0f4e'

const PRIME = 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn
const HALF_PRIME = PRIME / 2n

/** Flags in the first byte of a compressed point: compressed, infinity, and y being the greater of the two. */
const COMPRESSED = 0x80
const INFINITY = 0x40
const GREATER = 0x20

const bytesFrom = (value: bigint): Uint8Array => hexToBytes(`0x${value.toString(16).padStart(2 * FIELD_BYTES, '0')}`)

const decompressG1 = (mcl: Mcl, bytes: Uint8Array): Uint8Array | undefined => {
  const flags = (bytes[0] as number) & 0xe0
  const x = BigInt(bytesToHex(bytes)) & (2n ** 381n - 1n)
  if (flags === (COMPRESSED | INFINITY)) return x === 0n ? new Uint8Array(G1_BYTES) : undefined
  if ((flags & (COMPRESSED | INFINITY)) !== COMPRESSED || x >= PRIME) return undefined
  const square = new mcl.Fp()
  square.setBigEndianMod(bytesFrom((x * x * x + 4n) % PRIME))
  const [exists, root] = mcl.squareRoot(square)
  if (!exists) return undefined
  const y = bytesToBigint(root.serialize().reverse())
  const isGreater = y > HALF_PRIME
  const point = concatBytes(bytesFrom(x), bytesFrom(isGreater === ((flags & GREATER) !== 0) ? y : PRIME - y))
  return g1From(mcl, point).isValidOrder() ? point : undefined
}

const isInSubgroup = (point: G1 | G2): boolean => point.isValid() && point.isValidOrder()

const sumOf = <Point extends G1 | G2>(mcl: Mcl, left: Point, right: Point): Point | undefined =>
  left.isValid() && right.isValid() ? mcl.add(left, right) : undefined

/** Points by mcl in WebAssembly. */
export const createMclPoints = (mcl: Mcl): BlsPoints => ({
  name: 'mcl-wasm',
  addG1(a, b) {
    const sum = sumOf(mcl, g1From(mcl, a), g1From(mcl, b))
    return sum && g1Bytes(sum)
  },
  addG2(a, b) {
    const sum = sumOf(mcl, g2From(mcl, a), g2From(mcl, b))
    return sum && g2Bytes(sum)
  },
  isInG1: bytes => isInSubgroup(g1From(mcl, bytes)),
  isInG2: bytes => isInSubgroup(g2From(mcl, bytes)),
  decompressG1: bytes => decompressG1(mcl, bytes),
})

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
