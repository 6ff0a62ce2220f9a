/** Prime of the field of the curve bn254 (EIP-196). */
export const BN254_PRIME = 21888242871839275222246405745257275088696311157297823662689037894645226208583n

/** Order of the group G1, a prime. */
const BN254_ORDER = 21888242871839275222246405745257275088548364400416034343698204186575808495617n

/** 2^260: ten limbs of 26 bits. */
const R = 2n ** 260n

/** a + b u with u^2 = -1. */
type Fp2 = readonly [bigint, bigint]

const reduce = (value: bigint): bigint => ((value % BN254_PRIME) + BN254_PRIME) % BN254_PRIME
const multiply = ([a, b]: Fp2, [c, d]: Fp2): Fp2 => [reduce(a * c - b * d), reduce(a * d + b * c)]

const power = (base: Fp2, exponent: bigint): Fp2 => {
  let [result, square]: [Fp2, Fp2] = [[1n, 0n], base]
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = multiply(result, square)
    square = multiply(square, square)
  }
  return result
}

/** Basis of the towers: w^6 = xi. */
const XI: Fp2 = [9n, 1n]

/** In the order of assembly/bn254/memory.ts: R^2, 1, 3, 3 / xi, 9 / xi, xi^(i (p - 1) / 6) for i = 1 to 5, beta. */
export const montgomeryConstants = (): readonly bigint[] => {
  const twist = multiply([3n, 0n], power(XI, BN254_PRIME ** 2n - 2n))
  const gamma = power(XI, (BN254_PRIME - 1n) / 6n)
  const gammas = [1n, 2n, 3n, 4n, 5n].flatMap(i => power(gamma, i))
  return [reduce(R * R), 1n, 3n, ...twist, ...multiply(twist, [3n, 0n]), ...gammas, BETA]
}

/** A cube root of 1 modulo p: (beta x, y) is lambda (x, y) for every point of G1. */
const BETA = 2203960485148121921418603742825762020974279258880205651966n
/** The parameter of the curve, of which p and the order are polynomials. */
const X = 4965661367192848881n
const SHORT = 2n * X + 1n
const LONG = 6n * X * X + 2n * X

/**
 * Returns n and m below 2^127 in size, n not negative, with scalar = n + lambda m modulo the order. (LONG + SHORT, SHORT) and
 * (SHORT, -LONG) are such pairs for 0; the multiples of them nearest below (scalar, 0) are subtracted.
 */
export const splitScalar = (scalar: bigint): readonly [bigint, bigint] => {
  const first = (scalar * LONG) / BN254_ORDER
  const second = (scalar * SHORT) / BN254_ORDER
  return [scalar - first * (LONG + SHORT) - second * SHORT, second * LONG - first * SHORT]
}
