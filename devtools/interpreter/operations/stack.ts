import { FAULTS } from '../fault.ts'
import type { Frame, Signal } from '../frame/frame.ts'
import type { Operation } from '../transaction/execution.ts'
import { offsetFromWord } from '../words.ts'
import { entry, type OperationEntry } from './operation.ts'

/* Stack, pushes and jumps. The bounds of the stack are checked before an opcode runs. */

/** Created once: most pushed values are small. */
const SMALL = Array.from({ length: 256 }, (_, value) => BigInt(value))
/** Up to this size the data of a PUSH is an exact number. */
const NARROW_BYTES = 6

const pushByte: Operation = frame => {
  const value = frame.code.bytes[frame.pc++]
  frame.push(value === undefined ? 0n : (SMALL[value] as bigint))
}

const pushNarrow =
  (size: number): Operation =>
  frame => {
    const { bytes } = frame.code
    let value = 0
    for (let end = frame.pc + size; frame.pc < end; frame.pc++) value = value * 256 + (bytes[frame.pc] ?? 0)
    frame.push(BigInt(value))
  }

const pushWide =
  (size: number): Operation =>
  frame => {
    frame.push(frame.code.push(frame.pc, size))
    frame.pc += size
  }

const pushOf = (size: number): Operation =>
  size === 1 ? pushByte : size <= NARROW_BYTES ? pushNarrow(size) : pushWide(size)

const dup =
  (place: number): Operation =>
  frame =>
    frame.push(frame.peek(place - 1))

const swap =
  (place: number): Operation =>
  ({ stack, height }) => {
    const top = stack[height - 1] as bigint
    stack[height - 1] = stack[height - 1 - place] as bigint
    stack[height - 1 - place] = top
  }

const jumpTo = (frame: Frame, destination: bigint): Signal | undefined => {
  const place = offsetFromWord(destination)
  if (frame.code.jumps[place] !== 1) return frame.fail(FAULTS.invalidJump)
  frame.pc = place
  return undefined
}

const jump: Operation = frame => jumpTo(frame, frame.pop())

const jumpIf: Operation = frame => {
  const destination = frame.pop()
  return frame.pop() === 0n ? undefined : jumpTo(frame, destination)
}

const sixteen = (make: (place: number) => OperationEntry): OperationEntry[] =>
  Array.from({ length: 16 }, (_, i) => make(i + 1))

export const STACK_OPERATIONS: readonly OperationEntry[] = [
  entry(0x50, 2, frame => {
    frame.height--
  }),
  entry(0x56, 8, jump),
  entry(0x57, 10, jumpIf),
  entry(0x58, 2, frame => frame.push(BigInt(frame.pc - 1))),
  entry(0x59, 2, frame => frame.push(BigInt(frame.memory.words * 32))),
  entry(0x5a, 2, frame => frame.push(frame.gasLeft)),
  entry(0x5b, 1, () => {}),
  entry(0x5f, 2, frame => frame.push(0n)),
  ...Array.from({ length: 32 }, (_, i) => entry(0x60 + i, 3, pushOf(i + 1))),
  ...sixteen(place => entry(0x7f + place, 3, dup(place))),
  ...sixteen(place => entry(0x8f + place, 3, swap(place))),
]
