import type { Operation, Price } from '../transaction/execution.ts'
import { entry, type OperationEntry } from './operation.ts'

const word = (value: bigint): bigint => BigInt.asUintN(256, value)
const signed = (value: bigint): bigint => BigInt.asIntN(256, value)
const flag = (value: boolean): bigint => (value ? 1n : 0n)

const unary =
  (compute: (a: bigint) => bigint): Operation =>
  frame =>
    frame.push(compute(frame.pop()))

const binary =
  (compute: (a: bigint, b: bigint) => bigint): Operation =>
  frame => {
    const a = frame.pop()
    frame.push(compute(a, frame.pop()))
  }

const ternary =
  (compute: (a: bigint, b: bigint, c: bigint) => bigint): Operation =>
  frame => {
    const a = frame.pop()
    const b = frame.pop()
    frame.push(compute(a, b, frame.pop()))
  }

const signExtend = (place: bigint, value: bigint): bigint =>
  place >= 31n ? value : word(BigInt.asIntN(8 * Number(place) + 8, value))

const byteAt = (place: bigint, value: bigint): bigint =>
  place > 31n ? 0n : BigInt.asUintN(8, value >> BigInt(8 * (31 - Number(place))))

const shiftRightSigned = (shift: bigint, value: bigint): bigint => {
  const number = signed(value)
  if (shift > 255n) return number < 0n ? word(-1n) : 0n
  return word(number >> shift)
}

/** EIP-7939. */
const leadingZeros = (value: bigint): bigint => (value === 0n ? 256n : BigInt(256 - value.toString(2).length))

/** Square and multiply from the highest bit of the exponent. */
const power = (base: bigint, exponent: bigint): bigint => {
  if (exponent === 0n) return 1n
  if (base === 2n) return exponent > 255n ? 0n : 1n << exponent
  let result = 1n
  for (const bit of exponent.toString(2)) {
    result = word(result * result)
    if (bit === '1') result = word(result * base)
  }
  return result
}

const expPrice: Price = (frame, { rules }) => {
  const exponent = frame.peek(1)
  return exponent === 0n ? 0 : Math.ceil(exponent.toString(16).length / 2) * rules.expByte
}

export const ARITHMETIC: readonly OperationEntry[] = [
  entry(
    0x01,
    3,
    binary((a, b) => word(a + b)),
  ),
  entry(
    0x02,
    5,
    binary((a, b) => word(a * b)),
  ),
  entry(
    0x03,
    3,
    binary((a, b) => word(a - b)),
  ),
  entry(
    0x04,
    5,
    binary((a, b) => (b === 0n ? 0n : a / b)),
  ),
  entry(
    0x05,
    5,
    binary((a, b) => (b === 0n ? 0n : word(signed(a) / signed(b)))),
  ),
  entry(
    0x06,
    5,
    binary((a, b) => (b === 0n ? 0n : a % b)),
  ),
  entry(
    0x07,
    5,
    binary((a, b) => (b === 0n ? 0n : word(signed(a) % signed(b)))),
  ),
  entry(
    0x08,
    8,
    ternary((a, b, m) => (m === 0n ? 0n : (a + b) % m)),
  ),
  entry(
    0x09,
    8,
    ternary((a, b, m) => (m === 0n ? 0n : (a * b) % m)),
  ),
  entry(0x0a, 10, binary(power), expPrice),
  entry(0x0b, 5, binary(signExtend)),
  entry(
    0x10,
    3,
    binary((a, b) => flag(a < b)),
  ),
  entry(
    0x11,
    3,
    binary((a, b) => flag(a > b)),
  ),
  entry(
    0x12,
    3,
    binary((a, b) => flag(signed(a) < signed(b))),
  ),
  entry(
    0x13,
    3,
    binary((a, b) => flag(signed(a) > signed(b))),
  ),
  entry(
    0x14,
    3,
    binary((a, b) => flag(a === b)),
  ),
  entry(
    0x15,
    3,
    unary(a => flag(a === 0n)),
  ),
  entry(
    0x16,
    3,
    binary((a, b) => a & b),
  ),
  entry(
    0x17,
    3,
    binary((a, b) => a | b),
  ),
  entry(
    0x18,
    3,
    binary((a, b) => a ^ b),
  ),
  entry(
    0x19,
    3,
    unary(a => word(~a)),
  ),
  entry(0x1a, 3, binary(byteAt)),
  entry(
    0x1b,
    3,
    binary((shift, a) => (shift > 255n ? 0n : word(a << shift))),
  ),
  entry(
    0x1c,
    3,
    binary((shift, a) => (shift > 255n ? 0n : a >> shift)),
  ),
  entry(0x1d, 3, binary(shiftRightSigned)),
  entry(0x1e, 5, unary(leadingZeros)),
]
