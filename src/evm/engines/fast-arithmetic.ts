import { EVMError } from '@ethereumjs/evm'
import { bytesToHex } from '../../util/bytes.ts'
import type { OpHandler, RunState } from './run-state.ts'

/* The cheapest opcodes, which are most of what runs: EthereumJS' own make an array for every two operands. */

const word = (value: bigint): bigint => BigInt.asUintN(256, value)
const signed = (value: bigint): bigint => BigInt.asIntN(256, value)
const flag = (value: boolean): bigint => (value ? 1n : 0n)

const unary =
  (compute: (a: bigint) => bigint): OpHandler =>
  ({ stack }) =>
    stack.push(compute(stack.pop()))

const binary =
  (compute: (a: bigint, b: bigint) => bigint): OpHandler =>
  ({ stack }) => {
    const a = stack.pop()
    const b = stack.pop()
    stack.push(compute(a, b))
  }

const jumpTo = (state: RunState, destination: bigint): void => {
  const at = Number(destination)
  if (state.validJumps[at] !== 1) throw new EVMError(EVMError.errorMessages.INVALID_JUMP)
  state.programCounter = at
}

const jump: OpHandler = state => jumpTo(state, state.stack.pop())

const jumpIf: OpHandler = state => {
  const destination = state.stack.pop()
  const condition = state.stack.pop()
  if (condition !== 0n) jumpTo(state, destination)
}

const push: OpHandler = state => {
  const { programCounter: at } = state
  const size = state.opCode - 0x5f
  state.programCounter = at + size
  if (!state.shouldDoJumpAnalysis) {
    state.stack.push(state.cachedPushes[at] as bigint)
    return
  }
  const digits = bytesToHex(state.code.subarray(at, at + size)).slice(2)
  state.stack.push(BigInt(`0x${digits.padEnd(size * 2, '0')}`))
}

const calldataLoad: OpHandler = ({ stack, env: { callData } }) => {
  const offset = stack.pop()
  if (offset >= callData.byteLength) {
    stack.push(0n)
    return
  }
  const at = Number(offset)
  stack.push(BigInt(bytesToHex(callData.subarray(at, at + 32)).padEnd(66, '0')))
}

const PUSHES = Array.from({ length: 32 }, (_, i): readonly [number, OpHandler] => [0x60 + i, push])

export const ARITHMETIC: readonly (readonly [number, OpHandler])[] = [
  ...PUSHES,
  [0x01, binary((a, b) => word(a + b))],
  [0x02, binary((a, b) => word(a * b))],
  [0x03, binary((a, b) => word(a - b))],
  [0x04, binary((a, b) => (b === 0n ? 0n : a / b))],
  [0x06, binary((a, b) => (b === 0n ? 0n : a % b))],
  [0x10, binary((a, b) => flag(a < b))],
  [0x11, binary((a, b) => flag(a > b))],
  [0x12, binary((a, b) => flag(signed(a) < signed(b)))],
  [0x13, binary((a, b) => flag(signed(a) > signed(b)))],
  [0x14, binary((a, b) => flag(a === b))],
  [0x15, unary(a => flag(a === 0n))],
  [0x16, binary((a, b) => a & b)],
  [0x17, binary((a, b) => a | b)],
  [0x18, binary((a, b) => a ^ b)],
  [0x19, unary(a => word(~a))],
  [0x1b, binary((shift, a) => (shift > 255n ? 0n : word(a << shift)))],
  [0x1c, binary((shift, a) => (shift > 255n ? 0n : a >> shift))],
  [0x35, calldataLoad],
  [0x56, jump],
  [0x57, jumpIf],
]
