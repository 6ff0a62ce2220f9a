import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { bytesToBigint, EMPTY_BYTES, hexToBytes } from '@tandem/base/bytes.ts'
import { type EvmFork, isForkSince } from '../../../config/forks.ts'
import { powerMod, SHORT_OPERAND_BYTES, shortPowerMod } from '../../../crypto/wasm/modexp.ts'
import { PRECOMPILE_REASON } from '../../failure-reasons.ts'
import { type InputPrice, inputSlice, inSlices, type PrecompileOutput, type Run } from './precompile.ts'

/* EIP-198, priced by EIP-2565 from Berlin on and by EIP-7883 from Osaka on. */

const HEADER_BYTES = 96
const WORD_BYTES = 32
/** EIP-7823. */
const MAX_BYTES = 1_024
/** Bound of any fork before that: no gas pays for more. */
const LONGEST_BYTES = 2 ** 31 - 1
/** Word of a length beyond all bounds, for prices that are beyond all gas. */
const UNBOUNDED = 2 ** 52

type Lengths = readonly [base: number, exponent: number, modulus: number]

/** Length that stands in a word of the input. */
const lengthAt = (data: Uint8Array, at: number): number => {
  let length = 0
  for (let i = at; i < at + WORD_BYTES; i++) length = Math.min(UNBOUNDED, length * 256 + (data[i] ?? 0))
  return length
}
const lengthsOf = (data: Uint8Array): Lengths => [
  lengthAt(data, 0),
  lengthAt(data, WORD_BYTES),
  lengthAt(data, 2 * WORD_BYTES),
]

/** Bytes of the lengths and of what they announce. */
export const modexpReads = (data: Uint8Array): number =>
  lengthsOf(data).reduce((sum, length) => sum + length, HEADER_BYTES)

/** Number of squarings, from the exponent's first word and its length; at least 1. */
const squarings = (data: Uint8Array, [base, exponent]: Lengths, perByte: number): number => {
  const head = Math.min(exponent, WORD_BYTES)
  let bits = 0
  for (let i = 0; i < head; i++) {
    const byte = data[HEADER_BYTES + base + i] ?? 0
    if (byte === 0) continue
    bits = (head - i) * 8 - (Math.clz32(byte) - 24) - 1
    break
  }
  return Math.max(1, (exponent - head) * perByte + bits)
}

/** EIP-198. */
const oldComplexity = (size: bigint): bigint => {
  if (size <= 64n) return size ** 2n
  if (size <= 1_024n) return size ** 2n / 4n + 96n * size - 3_072n
  return size ** 2n / 16n + 480n * size - 199_680n
}

const atLeast = (gas: bigint, least: bigint): bigint => (gas > least ? gas : least)

const priceOf = (data: Uint8Array, lengths: Lengths, size: number, fork: EvmFork): bigint => {
  const words = BigInt(Math.ceil(size / 8))
  if (isForkSince(fork, 'osaka'))
    return atLeast(BigInt(squarings(data, lengths, 16)) * (size > 32 ? 2n * words ** 2n : 16n), 500n)
  const count = BigInt(squarings(data, lengths, 8))
  if (isForkSince(fork, 'berlin')) return atLeast((count * words ** 2n) / 3n, 200n)
  return (count * oldComplexity(BigInt(size))) / 20n
}

export const modexpPrice: InputPrice = (data, fork) => {
  const lengths = lengthsOf(data)
  const size = Math.max(lengths[0], lengths[2])
  const gas = priceOf(data, lengths, size, fork)
  const isBounded = isForkSince(fork, 'osaka')
  if (!isBounded && size === 0) return gas
  return Math.max(...lengths) > (isBounded ? MAX_BYTES : LONGEST_BYTES) ? PRECOMPILE_REASON.outOfGas : gas
}

function* compute(data: Uint8Array): SlicedWork<PrecompileOutput> {
  const [base, exponent, size] = lengthsOf(data)
  const exponentAt = HEADER_BYTES + base
  const divisor = bytesToBigint(inputSlice(data, exponentAt + exponent, size))
  if (divisor === 0n) return new Uint8Array(size)
  const factor = bytesToBigint(inputSlice(data, HEADER_BYTES, base))
  const power = yield* powerMod(factor, inputSlice(data, exponentAt, exponent), divisor)
  return hexToBytes(`0x${power.toString(16).padStart(size * 2, '0')}`)
}
const inParts = inSlices(compute)

export const modexp: Run = (data, check) => {
  const [base, exponent, size] = lengthsOf(data)
  if (size === 0) return EMPTY_BYTES
  if (Math.max(base, exponent, size) > SHORT_OPERAND_BYTES) return inParts(data, check)
  const power = inputSlice(data, HEADER_BYTES + base, exponent)
  const modulus = inputSlice(data, HEADER_BYTES + base + exponent, size)
  return shortPowerMod(inputSlice(data, HEADER_BYTES, base), power, modulus) ?? inParts(data, check)
}
