import { EMPTY_BYTES, type Hex, toWord } from '@tandem/base/bytes.ts'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import { FAULTS } from '../fault.ts'
import type { Frame } from '../frame/frame.ts'
import { perWord } from '../prices.ts'
import type { Execution, Operation, Price } from '../transaction/execution.ts'
import { offsetFromWord, readWord, writeWord } from '../words.ts'
import { entry, type OperationEntry } from './operation.ts'

/* Memory opcodes: access, copies into it, hashes and logs of it. */

const COPY_WORD = 3
const HASH_WORD = 6
const LOG_TOPIC = 375
const LOG_BYTE = 8n

const wordPrice =
  (size: bigint): Price =>
  frame =>
    frame.memory.price(frame.peek(0), size)

/** Operands: offset in memory, offset in the source, length. */
const copyPrice = (frame: Frame): number => {
  const length = frame.peek(2)
  return frame.memory.price(frame.peek(0), length) + perWord(length, COPY_WORD)
}

const load: Operation = frame => {
  const at = Number(frame.pop())
  frame.memory.reach(at + 32)
  frame.push(readWord(frame.memory.view, at))
}

const store: Operation = frame => {
  const at = Number(frame.pop())
  frame.memory.reach(at + 32)
  writeWord(frame.memory.view, at, frame.pop())
}

const storeByte: Operation = frame => {
  const at = Number(frame.pop())
  frame.memory.reach(at + 1)
  frame.memory.bytes[at] = Number(BigInt.asUintN(8, frame.pop()))
}

/** Copies from data of the frame: offset in memory, offset in the data, length. */
const copyFrom =
  (source: (frame: Frame, vm: Execution) => Uint8Array): Operation =>
  (frame, vm) => {
    const at = frame.pop()
    const from = offsetFromWord(frame.pop())
    const length = frame.pop()
    if (length !== 0n) frame.memory.write(Number(at), source(frame, vm), from, Number(length))
  }

/** EIP-5656: source and destination are paid for together. */
const moveInMemoryPrice: Price = frame => {
  const length = frame.peek(2)
  const from = frame.memory.price(frame.peek(1), length)
  return from + frame.memory.price(frame.peek(0), length) + perWord(length, COPY_WORD)
}

const moveInMemory: Operation = frame => {
  const to = frame.pop()
  const from = frame.pop()
  const length = frame.pop()
  if (length === 0n) return
  const [target, source, size] = [Number(to), Number(from), Number(length)]
  frame.memory.reach(Math.max(target, source) + size)
  frame.memory.bytes.copyWithin(target, source, source + size)
}

const copyReturned = copyFrom(({ returnData }) => returnData)

/** A read beyond the return data fails, even of length zero (EIP-211). */
const copyReturnData: Operation = (frame, vm) => {
  if (frame.peek(1) + frame.peek(2) > BigInt(frame.returnData.byteLength))
    return frame.fail(FAULTS.returnDataOutOfBounds)
  return copyReturned(frame, vm)
}

const hashPrice: Price = frame => {
  const length = frame.peek(1)
  return frame.memory.price(frame.peek(0), length) + perWord(length, HASH_WORD)
}

const hash: Operation = frame => {
  const offset = frame.pop()
  frame.push(BigInt(keccak256Hex(frame.memory.slice(offset, frame.pop()))))
}

const logPrice: Price = frame => {
  const length = frame.peek(1)
  return frame.memory.price(frame.peek(0), length) + LOG_TOPIC * (frame.op - 0xa0) + Number(LOG_BYTE * length)
}

const log: Operation = (frame, vm) => {
  if (frame.context.isStatic) return frame.fail(FAULTS.staticStateChange)
  const offset = frame.pop()
  const length = frame.pop()
  const topics: Hex[] = []
  for (let topic = 0xa0; topic < frame.op; topic++) topics.push(toWord(frame.pop()))
  const { address } = frame.context
  if (vm.trace === undefined) {
    vm.effects.logs.push({ address, topics, data: frame.memory.copy(offset, length) })
    return undefined
  }
  // Data that the transaction logs is kept by tracers that show it, and by nobody else.
  vm.effects.logs.push({ address, topics, data: EMPTY_BYTES })
  vm.trace.tracer.log?.({ address, topics, data: frame.memory.slice(offset, length) })
  return undefined
}

export const MEMORY_OPERATIONS: readonly OperationEntry[] = [
  entry(0x20, 30, hash, hashPrice),
  entry(
    0x37,
    3,
    copyFrom(({ context }) => context.input),
    copyPrice,
  ),
  entry(
    0x39,
    3,
    copyFrom(({ code }) => code.bytes),
    copyPrice,
  ),
  entry(0x3e, 3, copyReturnData, copyPrice),
  entry(0x51, 3, load, wordPrice(32n)),
  entry(0x52, 3, store, wordPrice(32n)),
  entry(0x53, 3, storeByte, wordPrice(1n)),
  entry(0x5e, 3, moveInMemory, moveInMemoryPrice),
  ...[0, 1, 2, 3, 4].map(topics => entry(0xa0 + topics, 375, log, logPrice)),
]
