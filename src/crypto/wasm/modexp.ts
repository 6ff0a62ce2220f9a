import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { bigintToBytes, bytesToBigint, trimZeros } from '@tandem/base/bytes.ts'
import { type PausableExports, SharedWasmMemory } from './shared-memory.ts'
import { loadWasm, type WasmConstant } from './wasm.ts'

/*
 * base^exponent mod modulus in small parts. An exponent can be a megabyte and is read byte by byte. Odd moduli of up to 128 bytes
 * use this project's module, where a step costs nanoseconds; longer ones the engine's bigints, which multiply long numbers faster.
 * An even modulus is split into its odd part and a power of two, combined by the Chinese remainder theorem.
 */

interface Exports extends PausableExports {
  readonly MODULUS: WasmConstant
  readonly TABLE: WasmConstant
  readonly RESULT: WasmConstant
  readonly EXPONENT: WasmConstant
  begin(limbs: number, windows: boolean): void
  raise(bytes: number): void
  raiseByBits(bytes: number): void
  finish(): void
  readonly OPERANDS: WasmConstant
  powerShort(exponentBytes: number): number
}

const wasm = loadWasm<Exports>(new URL('../assembly/modexp.wasm', import.meta.url))
const block = new SharedWasmMemory(wasm)

const MAX_LIMBS = 32
const ENTRY_BYTES = 128
const CHUNK_BYTES = 1_024
const view = ({ value }: WasmConstant, size: number): Buffer => Buffer.from(wasm.memory.buffer, value, size)
const modulusView = view(wasm.MODULUS, ENTRY_BYTES)
const tableView = view(wasm.TABLE, ENTRY_BYTES * 2)
const resultView = view(wasm.RESULT, ENTRY_BYTES)
/** Base and modulus of `shortPowerMod`. */
const operandsView = view(wasm.OPERANDS, 64)
const exponentView = view(wasm.EXPONENT, CHUNK_BYTES)

/** Exponents up to this length are read bit by bit: a table of powers would cost more than it saves. */
const SHORT_BYTES = 8
/** Products of limbs in one part: a byte of the exponent takes ten of about 2 limbs^2. */
const PRODUCTS_PER_PART = 400_000

const writeLimbs = (to: Buffer, at: number, value: bigint): void => {
  const bytes = bigintToBytes(value).reverse()
  to.fill(0, at, at + ENTRY_BYTES).set(bytes, at)
}

/** Two, four and eight limbs have code of their own. */
const limbsOf = (modulus: bigint): number => {
  const limbs = Math.ceil(modulus.toString(16).length / 8)
  if (limbs === 7) return 8
  return limbs < 4 ? limbs + (limbs & 1) : limbs
}

/** For an odd modulus of at most MAX_LIMBS limbs. */
function* powerModOdd(base: bigint, exponent: Uint8Array, modulus: bigint): SlicedWork<bigint> {
  const limbs = limbsOf(modulus)
  const shift = BigInt(32 * limbs)
  const windows = exponent.byteLength > SHORT_BYTES
  const memoryOwner = block.open()
  writeLimbs(modulusView, 0, modulus)
  writeLimbs(tableView, 0, (1n << shift) % modulus)
  writeLimbs(tableView, ENTRY_BYTES, (base << shift) % modulus)
  wasm.begin(limbs, windows)
  const piece = Math.max(1, Math.min(CHUNK_BYTES, Math.floor(PRODUCTS_PER_PART / (20 * limbs * limbs))))
  for (let at = 0; at < exponent.byteLength; at += piece) {
    if (at > 0) {
      yield
      block.enter(memoryOwner)
    }
    const bytes = exponent.subarray(at, at + piece)
    exponentView.set(bytes)
    if (windows) wasm.raise(bytes.byteLength)
    else wasm.raiseByBits(bytes.byteLength)
  }
  wasm.finish()
  block.close(memoryOwner)
  return bytesToBigint(Uint8Array.from(resultView.subarray(0, limbs * 4)).reverse())
}

/** For moduli of any size, with the engine's bigints. */
function* powerModLong(base: bigint, exponent: Uint8Array, modulus: bigint): SlicedWork<bigint> {
  const powers = [1n % modulus, base % modulus]
  if (exponent.byteLength > SHORT_BYTES) {
    for (let power = 2; power < 16; power++) {
      powers.push(((powers[power - 1] as bigint) * (powers[1] as bigint)) % modulus)
      yield
    }
  }
  const bits = powers.length === 2 ? 1 : 4
  let result = powers[0] as bigint
  for (const byte of exponent) {
    for (let shift = 8 - bits; shift >= 0; shift -= bits) {
      for (let i = 0; i < bits; i++) result = (result * result) % modulus
      const digit = (byte >> shift) & (2 ** bits - 1)
      if (digit !== 0) result = (result * (powers[digit] as bigint)) % modulus
      yield
    }
  }
  return result
}

/** base^exponent mod 2^bits: an odd base has an order that divides 2^(bits - 2), an even one becomes 0 from the power `bits` on. */
const powerModTwo = (base: bigint, exponent: Uint8Array, bits: number): bigint => {
  const orderBits = Math.max(1, bits - 2)
  const tail = exponent.subarray(Math.max(0, exponent.byteLength - Math.ceil(orderBits / 8) - 4))
  const isTail = tail.byteLength < exponent.byteLength
  let power = bytesToBigint(tail)
  if ((base & 1n) === 1n) power = BigInt.asUintN(orderBits, power)
  else if (isTail || power >= BigInt(bits)) return 0n
  let square = BigInt.asUintN(bits, base)
  let result = 1n
  for (; power > 0n; power >>= 1n) {
    if ((power & 1n) === 1n) result = BigInt.asUintN(bits, result * square)
    square = BigInt.asUintN(bits, square * square)
  }
  return BigInt.asUintN(bits, result)
}

/** 1 / odd mod 2^bits, by Newton's iteration. */
const invertModTwo = (odd: bigint, bits: number): bigint => {
  let inverse = 1n
  for (let right = 1; right < bits; right *= 2)
    inverse = BigInt.asUintN(Math.min(right * 2, bits), inverse * (2n - odd * inverse))
  return BigInt.asUintN(bits, inverse)
}

const trailingZeros = (value: bigint): number => {
  const digits = value.toString(2)
  return digits.length - 1 - digits.lastIndexOf('1')
}

/** `exponent` is a big-endian number of any length; the modulus is not zero. */
export function* powerMod(base: bigint, exponent: Uint8Array, modulus: bigint): SlicedWork<bigint> {
  const digits = trimZeros(exponent)
  if (modulus >> BigInt(32 * MAX_LIMBS) !== 0n) return yield* powerModLong(base, digits, modulus)
  const twos = trailingZeros(modulus)
  if (twos === 0) return yield* powerModOdd(base, digits, modulus)
  const odd = modulus >> BigInt(twos)
  const low = powerModTwo(base, digits, twos)
  if (odd === 1n) return low
  const high = yield* powerModOdd(base, digits, odd)
  return high + odd * BigInt.asUintN(twos, (low - high) * invertModTwo(odd, twos))
}

/** Most bytes of each operand of `shortPowerMod`. */
export const SHORT_OPERAND_BYTES = 32

/** Short form, at once: big-endian operands of SHORT_OPERAND_BYTES at most, result as long as the modulus; undefined: it is even. */
export const shortPowerMod = (base: Uint8Array, exponent: Uint8Array, modulus: Uint8Array): Uint8Array | undefined => {
  const memoryOwner = block.open()
  operandsView.fill(0)
  operandsView.set(base, SHORT_OPERAND_BYTES - base.byteLength)
  operandsView.set(modulus, 2 * SHORT_OPERAND_BYTES - modulus.byteLength)
  const digits = trimZeros(exponent)
  exponentView.set(digits)
  const isOdd = wasm.powerShort(digits.byteLength) !== 0
  block.close(memoryOwner)
  if (!isOdd) return undefined
  return new Uint8Array(operandsView.subarray(SHORT_OPERAND_BYTES - modulus.byteLength, SHORT_OPERAND_BYTES))
}
