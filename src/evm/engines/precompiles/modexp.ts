import type { Common } from '@ethereumjs/common'
import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { bytesToBigint, hexToBytes } from '@tandem/base/bytes.ts'
import { powerMod } from '../../../crypto/wasm/modexp.ts'
import { inputSlice, outOfGasResult, type Precompile, runPacedResult } from './precompile.ts'

/*
 * EIP-198, priced by EIP-2565 from Berlin on and by EIP-7883 from Osaka on. EthereumJS' loop shifts the whole exponent for every
 * bit: with a long one, 100 M gas held the thread for most of an hour.
 */

const HEADER_BYTES = 96n
const WORD_BYTES = 32n
/** EIP-7823. */
const MAX_BYTES = 1_024n
/** EthereumJS' own bound before that. */
const LONGEST_BYTES = 2n ** 31n - 1n

interface Lengths {
  readonly base: bigint
  readonly exponent: bigint
  readonly modulus: bigint
}

const readLengths = (data: Uint8Array): Lengths => ({
  base: bytesToBigint(inputSlice(data, 0n, WORD_BYTES)),
  exponent: bytesToBigint(inputSlice(data, 32n, WORD_BYTES)),
  modulus: bytesToBigint(inputSlice(data, 64n, WORD_BYTES)),
})

const longest = ({ base, modulus }: Lengths): bigint => (base > modulus ? base : modulus)

/** Returns the number of squarings, from the exponent's first word and its length; at least 1. */
const iterations = (data: Uint8Array, { base, exponent }: Lengths, perByte: bigint): bigint => {
  const head = exponent < WORD_BYTES ? exponent : WORD_BYTES
  const first = bytesToBigint(inputSlice(data, HEADER_BYTES + base, head))
  const bits = first === 0n ? 0n : BigInt(first.toString(2).length - 1)
  const count = (exponent - head) * perByte + bits
  return count > 0n ? count : 1n
}

/** EIP-198. */
const oldComplexity = (size: bigint): bigint => {
  if (size <= 64n) return size ** 2n
  if (size <= 1_024n) return size ** 2n / 4n + 96n * size - 3_072n
  return size ** 2n / 16n + 480n * size - 199_680n
}

const atLeast = (gas: bigint, least: bigint): bigint => (gas > least ? gas : least)

const priceOf = (data: Uint8Array, lengths: Lengths, common: Common): bigint => {
  const size = longest(lengths)
  const words = (size + 7n) / 8n
  if (common.isActivatedEIP(7883)) {
    const complexity = size > 32n ? 2n * words ** 2n : 16n
    return atLeast(iterations(data, lengths, 16n) * complexity, 500n)
  }
  const divisor = common.param('modexpGquaddivisorGas')
  const count = iterations(data, lengths, 8n)
  if (common.isActivatedEIP(2565)) return atLeast((count * words ** 2n) / divisor, 200n)
  return (count * oldComplexity(size)) / divisor
}

function* compute(data: Uint8Array, { base, exponent, modulus }: Lengths): SlicedWork<Uint8Array> {
  const exponentAt = HEADER_BYTES + base
  const divisor = bytesToBigint(inputSlice(data, exponentAt + exponent, modulus))
  const size = Number(modulus)
  if (divisor === 0n) return new Uint8Array(size)
  const factor = bytesToBigint(inputSlice(data, HEADER_BYTES, base))
  const power = yield* powerMod(factor, inputSlice(data, exponentAt, exponent), divisor)
  return hexToBytes(`0x${power.toString(16).padStart(size * 2, '0')}`)
}

export const modexp: Precompile = input => {
  const { data, gasLimit, common } = input
  const lengths = readLengths(data)
  const gas = priceOf(data, lengths, common)
  if (gas > gasLimit) return outOfGasResult(gasLimit)
  const bounded = common.isActivatedEIP(7823)
  if (!bounded && longest(lengths) === 0n) return { returnValue: new Uint8Array(0), executionGasUsed: gas }
  const most = bounded ? MAX_BYTES : LONGEST_BYTES
  if (longest(lengths) > most || lengths.exponent > most) return outOfGasResult(gasLimit)
  return runPacedResult(input, gas, compute(data, lengths))
}
