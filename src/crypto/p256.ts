import { createECDH } from 'node:crypto'
import { asBuffer, bytesToBigint, bytesToHex, hexToBytes, toWord } from '@tandem/base/bytes.ts'

/*
 * ECDSA over P-256 (secp256r1) for a given digest; node:crypto only verifies what it hashes itself. The point u1 G + u2 Q is
 * u2 (t G + Q) with t = u1 / u2 = digest / r: a public key, a sum of two points, and a multiple of which only x counts, the secret of a
 * Diffie-Hellman exchange. OpenSSL computes both multiples.
 */

const FIELD = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn

interface Point {
  readonly x: bigint
  readonly y: bigint
}

const bytesOf = (value: bigint): Uint8Array => hexToBytes(toWord(value))
const modulo = (value: bigint, modulus: bigint): bigint => {
  const rest = value % modulus
  return rest < 0n ? rest + modulus : rest
}

/** Extended Euclid; the value and the modulus have no common factor. */
const invert = (value: bigint, modulus: bigint): bigint => {
  let [rest, next] = [modulus, value]
  let [factor, nextFactor] = [0n, 1n]
  while (next !== 0n) {
    const quotient = rest / next
    ;[rest, next] = [next, rest - quotient * next]
    ;[factor, nextFactor] = [nextFactor, factor - quotient * nextFactor]
  }
  return modulo(factor, modulus)
}

const isOnCurve = ({ x, y }: Point): boolean =>
  x < FIELD && y < FIELD && modulo(y * y - (x * x * x - 3n * x + B), FIELD) === 0n

/** undefined: infinity. */
const add = (a: Point, b: Point): Point | undefined => {
  if (a.x === b.x && a.y !== b.y) return undefined
  const [rise, run] = a.x === b.x ? [3n * a.x * a.x - 3n, 2n * a.y] : [b.y - a.y, b.x - a.x]
  const slope = (rise * invert(modulo(run, FIELD), FIELD)) % FIELD
  const x = modulo(slope * slope - a.x - b.x, FIELD)
  return { x, y: modulo(slope * (a.x - x) - a.y, FIELD) }
}

let exchange: ReturnType<typeof createECDH> | undefined

/** Exchange with this private key, which is between 1 and the order. */
const withKey = (key: bigint): ReturnType<typeof createECDH> => {
  exchange ??= createECDH('prime256v1')
  exchange.setPrivateKey(bytesOf(key))
  return exchange
}

const multipleOfGenerator = (factor: bigint): Point => {
  const key = withKey(factor).getPublicKey()
  return { x: bytesToBigint(key.subarray(1, 33)), y: bytesToBigint(key.subarray(33)) }
}

/** x of a multiple. */
const multiply = (factor: bigint, { x, y }: Point): bigint =>
  BigInt(
    bytesToHex(withKey(factor).computeSecret(asBuffer(hexToBytes(`0x04${toWord(x).slice(2)}${toWord(y).slice(2)}`)))),
  )

const isScalar = (value: bigint): boolean => value > 0n && value < ORDER

/** Returns true when r, s is a signature of the digest by the public key; s may be in either half. */
export const isP256Signature = (digest: bigint, r: bigint, s: bigint, key: Point): boolean => {
  if (!isScalar(r) || !isScalar(s) || !isOnCurve(key)) return false
  // One inversion serves both: 1 / r = s / (r s), 1 / s = r / (r s).
  const inverse = invert((r * s) % ORDER, ORDER)
  const ratio = ((((digest % ORDER) * s) % ORDER) * inverse) % ORDER
  const factor = (((r * r) % ORDER) * inverse) % ORDER
  const sum = ratio === 0n ? key : add(multipleOfGenerator(ratio), key)
  return sum !== undefined && multiply(factor, sum) % ORDER === r
}
