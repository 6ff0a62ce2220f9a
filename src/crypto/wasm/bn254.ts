import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { bytesToBigint, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { type PausableExports, SharedWasmMemory } from './shared-memory.ts'
import { loadWasm, type WasmConstant } from './wasm.ts'

/* Sums, multiples and pairings on the curve bn254, by this project's own module (assembly/bn254). */

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

interface Exports extends PausableExports {
  readonly INPUT: WasmConstant
  readonly OUTPUT: WasmConstant
  setConstant(index: number): void
  add(): number
  multiply(isNegative: boolean): number
  begin(): void
  takePair(): number
  isFull(): number
  isWaiting(): number
  takeWaiting(): void
  isOne(): number
}

/** Input of a sum: two points of 64 bytes. */
export const ADD_BYTES = 128
/** Input of a multiple: a point and a number of 32 bytes. */
export const MULTIPLY_BYTES = 96
/** Point of G1 and point of G2, imaginary parts first (EIP-197). */
export const PAIR_BYTES = 192
const POINT_BYTES = 64

const createModule = () => {
  const wasm = loadWasm<Exports>(new URL('../assembly/bn254.wasm', import.meta.url))
  const input = Buffer.from(wasm.memory.buffer, wasm.INPUT.value, PAIR_BYTES)
  const output = Buffer.from(wasm.memory.buffer, wasm.OUTPUT.value, POINT_BYTES)
  for (const [index, value] of montgomeryConstants().entries()) {
    input.set(hexToBytes(toWord(value)))
    wasm.setConstant(index)
  }
  return { wasm, input, output, block: new SharedWasmMemory(wasm) }
}

/** Created at the first use: few threads ever need it. */
let made: ReturnType<typeof createModule> | undefined
const bn254 = () => {
  made ??= createModule()
  return made
}

/** Sum of two points of G1, ADD_BYTES of input, zeros for infinity; undefined: one is not in the group. */
export const bn254Add = (bytes: Uint8Array): Uint8Array | undefined => {
  const { wasm, input, output, block } = bn254()
  const memoryOwner = block.open()
  input.set(bytes)
  const isValid = wasm.add() !== 0
  block.close(memoryOwner)
  return isValid ? Uint8Array.from(output) : undefined
}

/** Multiple of a point of G1, MULTIPLY_BYTES of input; undefined: it is not in the group. */
export const bn254Multiply = (bytes: Uint8Array): Uint8Array | undefined => {
  const { wasm, input, output, block } = bn254()
  const memoryOwner = block.open()
  const [first, second] = splitScalar(bytesToBigint(bytes.subarray(POINT_BYTES)))
  const isNegative = second < 0n
  input.set(bytes.subarray(0, POINT_BYTES))
  for (const [index, number] of [first, isNegative ? -second : second].entries()) {
    input.writeBigUInt64LE(BigInt.asUintN(64, number), POINT_BYTES + 16 * index)
    input.writeBigUInt64LE(number >> 64n, POINT_BYTES + 16 * index + 8)
  }
  const isValid = wasm.multiply(isNegative) !== 0
  block.close(memoryOwner)
  return isValid ? Uint8Array.from(output) : undefined
}

const BAD_FIELD = 2

/** Returns true when the product of all pairings is 1, as of none; the fault of the first invalid pair, where there is one. */
export function* bn254Pairing(pairs: Uint8Array): SlicedWork<boolean | 'not a point' | 'not in the field'> {
  const { wasm, input, block } = bn254()
  const memoryOwner = block.open()
  wasm.begin()
  for (let at = 0; at < pairs.byteLength; at += PAIR_BYTES) {
    input.set(pairs.subarray(at, at + PAIR_BYTES))
    const fault = wasm.takePair()
    if (fault !== 0) return fault === BAD_FIELD ? 'not in the field' : 'not a point'
    if (wasm.isFull() !== 0) wasm.takeWaiting()
    yield
    block.enter(memoryOwner)
  }
  if (wasm.isWaiting() !== 0) wasm.takeWaiting()
  const isOne = wasm.isOne() !== 0
  block.close(memoryOwner)
  return isOne
}
