import { hash } from 'node:crypto'
import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { type EvmFork, isForkSince } from '../../../config/forks.ts'
import { keccak256 } from '../../../crypto/hash.ts'
import { isScalar, signatures } from '../../../crypto/signature.ts'
import { BLAKE2_INPUT_BYTES, ROUNDS_PER_PART, shortBlake2Compress } from '../../../crypto/wasm/blake2.ts'
import { ADD_BYTES, type Bn254Error, bn254Add, bn254Multiply, MULTIPLY_BYTES } from '../../../crypto/wasm/bn254.ts'
import { SHORT_OPERAND_BYTES, shortPowerMod } from '../../../crypto/wasm/modexp.ts'
import { PRECOMPILE_OUT_OF_RANGE, PRECOMPILE_REVERT, REASON } from '../failure-reasons.ts'
import type { PrecompileResult } from './precompile-host.ts'

/* The precompiles that contracts call most, without EthereumJS around them. The others are in precompile-host.ts. */

type Quick = (data: Uint8Array, gas: bigint) => PrecompileResult | undefined

const failed = (gasUsed: bigint): PrecompileResult => ({ output: EMPTY_BYTES, gasUsed, failure: REASON.outOfGas })

const ECRECOVER_GAS = 3_000n
const nothing: PrecompileResult = { output: EMPTY_BYTES, gasUsed: ECRECOVER_GAS, failure: undefined }

/** Hash, v, r and s of 32 bytes each; missing ones are zero. */
const ecrecover: Quick = (data, gas) => {
  if (gas < ECRECOVER_GAS) return failed(gas)
  const input = new Uint8Array(128)
  input.set(data.subarray(0, 128))
  const v = input[63] as number
  for (let i = 32; i < 63; i++) if (input[i] !== 0) return nothing
  if (v !== 27 && v !== 28) return nothing
  const signature = input.subarray(64)
  if (!isScalar(signature.subarray(0, 32)) || !isScalar(signature.subarray(32))) return nothing
  const key = signatures.recover(input.subarray(0, 32), signature, v === 27 ? 0 : 1)
  if (key === undefined) return nothing
  const output = new Uint8Array(32)
  output.set(keccak256(key.byteLength === 65 ? key.subarray(1) : key).subarray(12), 12)
  return { output, gasUsed: ECRECOVER_GAS, failure: undefined }
}

/** Longer inputs are hashed in parts, with other work in between. */
const AT_ONCE_BYTES = 64 * 1024

const sha256: Quick = (data, gas) => {
  if (data.byteLength > AT_ONCE_BYTES) return undefined
  const gasUsed = BigInt(60 + 12 * Math.ceil(data.byteLength / 32))
  if (gas < gasUsed) return failed(gas)
  return { output: hash('sha256', data, 'buffer'), gasUsed, failure: undefined }
}

/** Point of bn254 from the first bytes of the input, padded with zeros; errors are those of precompiles/bn254.ts. */
const point =
  (price: bigint, size: number, compute: (bytes: Uint8Array) => Uint8Array): Quick =>
  (data, gas) => {
    if (gas < price) return failed(gas)
    let input = data.subarray(0, size)
    if (input.byteLength < size) {
      input = new Uint8Array(size)
      input.set(data)
    }
    try {
      return { output: compute(input), gasUsed: price, failure: undefined }
    } catch (error) {
      if (!isCoded(error) || (error.code as Bn254Error['code']) !== 'NOT_A_POINT') throw error
      return { output: EMPTY_BYTES, gasUsed: gas, failure: PRECOMPILE_REVERT }
    }
  }

const WORD_BYTES = 32
/** Length that stands in a word of the input; undefined: the input ends before, or operands of this length are not for here. */
const lengthAt = (data: Uint8Array, at: number): number | undefined => {
  const length = data[at + WORD_BYTES - 1]
  if (length === undefined || length > SHORT_OPERAND_BYTES) return undefined
  for (let i = at; i < at + WORD_BYTES - 1; i++) if (data[i] !== 0) return undefined
  return length
}

/** Bytes of the input from `at`, padded with zeros. */
const operandAt = (data: Uint8Array, at: number, size: number): Uint8Array => {
  const given = data.subarray(at, at + size)
  if (given.byteLength === size) return given
  const padded = new Uint8Array(size)
  padded.set(given)
  return padded
}

/** Number of squarings that are paid: the bits of the exponent after its first one; at least 1. */
const squarings = (exponent: Uint8Array): number => {
  const first = exponent.findIndex(byte => byte !== 0)
  if (first < 0) return 1
  const bits = (exponent.byteLength - first) * 8 - (Math.clz32(exponent[first] as number) - 24)
  return Math.max(1, bits - 1)
}

/** MODEXP of short operands; any other has its own file. */
const modexp =
  (price: (squarings: number, words: number) => number): Quick =>
  (data, gas) => {
    const [baseSize, exponentSize, size] = [lengthAt(data, 0), lengthAt(data, 32), lengthAt(data, 64)]
    if (baseSize === undefined || exponentSize === undefined || size === undefined) return undefined
    const exponent = operandAt(data, 96 + baseSize, exponentSize)
    const gasUsed = BigInt(price(squarings(exponent), Math.ceil(Math.max(baseSize, size) / 8)))
    if (gas < gasUsed) return failed(gas)
    if (size === 0) return { output: EMPTY_BYTES, gasUsed, failure: undefined }
    const modulus = operandAt(data, 96 + baseSize + exponentSize, size)
    const output = shortPowerMod(operandAt(data, 96, baseSize), exponent, modulus)
    return output && { output, gasUsed, failure: undefined }
  }

/** Shorter than a part, and each a gas (EIP-152). */
const blake2f: Quick = (data, gas) => {
  const last = data[BLAKE2_INPUT_BYTES - 1]
  if (data.byteLength !== BLAKE2_INPUT_BYTES || (last !== 0 && last !== 1))
    return { output: EMPTY_BYTES, gasUsed: gas, failure: PRECOMPILE_OUT_OF_RANGE }
  const [a, b, c, d] = data as unknown as readonly [number, number, number, number]
  const rounds = a * 2 ** 24 + ((b << 16) | (c << 8) | d)
  if (gas < rounds) return failed(gas)
  if (rounds > ROUNDS_PER_PART) return undefined
  return { output: shortBlake2Compress(data, rounds), gasUsed: BigInt(rounds), failure: undefined }
}

const ALWAYS: readonly (Quick | undefined)[] = [undefined, ecrecover, sha256]
/** With the prices of EIP-1108. */
const SINCE_ISTANBUL: readonly (Quick | undefined)[] = [
  ...ALWAYS,
  undefined,
  undefined,
  undefined,
  point(150n, ADD_BYTES, bn254Add),
  point(6_000n, MULTIPLY_BYTES, bn254Multiply),
  undefined,
  blake2f,
]

const withModexp = (price: (squarings: number, words: number) => number): readonly (Quick | undefined)[] =>
  SINCE_ISTANBUL.with(5, modexp(price))

/** EIP-2565, of operands up to 32 bytes. */
const SINCE_BERLIN = withModexp((count, words) => Math.max(200, Math.floor((count * words ** 2) / 3)))
/** EIP-7883, of operands up to 32 bytes. */
const SINCE_OSAKA = withModexp(count => Math.max(500, count * 16))

export type QuickPrecompiles = typeof ALWAYS

export const quickPrecompilesAt = (fork: EvmFork): QuickPrecompiles => {
  if (isForkSince(fork, 'osaka')) return SINCE_OSAKA
  if (isForkSince(fork, 'berlin')) return SINCE_BERLIN
  return isForkSince(fork, 'istanbul') ? SINCE_ISTANBUL : ALWAYS
}
