import { bytesToBigint, bytesToHex, concatBytes, hexToBytes } from '@tandem/base/bytes.ts'
import { g1Bytes, g1From, g2Bytes, g2From, type Mcl } from './mcl.ts'
import { type BlsPoints, FIELD_BYTES, G1_BYTES } from './points.ts'

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

/** Points by mcl in WebAssembly. */
export const createMclPoints = (mcl: Mcl): BlsPoints => ({
  name: 'mcl-wasm',
  addG1(a, b) {
    const [left, right] = [g1From(mcl, a), g1From(mcl, b)]
    return left.isValid() && right.isValid() ? g1Bytes(mcl.add(left, right)) : undefined
  },
  addG2(a, b) {
    const [left, right] = [g2From(mcl, a), g2From(mcl, b)]
    return left.isValid() && right.isValid() ? g2Bytes(mcl.add(left, right)) : undefined
  },
  isInG1(bytes) {
    const point = g1From(mcl, bytes)
    return point.isValid() && point.isValidOrder()
  },
  isInG2(bytes) {
    const point = g2From(mcl, bytes)
    return point.isValid() && point.isValidOrder()
  },
  decompressG1: bytes => decompressG1(mcl, bytes),
})
