import { FAULTS, type Fault } from '../fault.ts'
import type { Frame } from '../frame/frame.ts'
import type { Execution } from '../transaction/execution.ts'

/*
 * Choice among several faults of one opcode. All consume the frame's gas; clients see EthereumJS' choice: where the price depends on
 * operands they are checked first, else the gas; in a static frame most opcodes that write are rejected before the gas is checked.
 */

const CALL = 0xf1
/** SSTORE, LOG, CREATE, CREATE2, SELFDESTRUCT. */
const WRITES: ReadonlySet<number> = new Set([0x55, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xf0, 0xf5, 0xff])
/** Opcodes whose price depends on operands, or on the state. */
const LOOKS_FIRST: ReadonlySet<number> = new Set([
  0x0a, 0x20, 0x31, 0x37, 0x39, 0x3b, 0x3c, 0x3e, 0x3f, 0x51, 0x54, 0x55, 0x5e, 0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5,
  0xfa, 0xfd, 0xff,
])

/** MSTORE, MSTORE8, LOG: number of operands read for the price; the others are read only when it is paid. */
const LOOKS_AT: ReadonlyMap<number, number> = new Map([
  [0x52, 1],
  [0x53, 1],
  ...[0xa0, 0xa1, 0xa2, 0xa3, 0xa4].map((op): [number, number] => [op, 2]),
])

/** Fault of an opcode with too few or too many stack items. */
export const stackFault = (frame: Frame, op: number, vm: Execution, fault: Fault): Fault => {
  if (frame.context.isStatic && WRITES.has(op)) return FAULTS.staticStateChange
  const looksAt = LOOKS_AT.get(op)
  if (looksAt === undefined ? LOOKS_FIRST.has(op) : frame.height < looksAt) return fault
  frame.op = op
  const price = (vm.table.fixed[op] as number) + (looksAt === undefined ? 0 : (vm.table.prices[op]?.(frame, vm) ?? 0))
  return frame.gasLeft < price ? FAULTS.outOfGas : fault
}

/** Fault of an opcode that costs more than the remaining gas. */
export const gasFault = (frame: Frame, op: number): Fault => {
  if (!frame.context.isStatic) return FAULTS.outOfGas
  const writes = WRITES.has(op) || (op === CALL && frame.peek(2) !== 0n)
  return writes ? FAULTS.staticStateChange : FAULTS.outOfGas
}
