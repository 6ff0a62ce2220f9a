import { type BasicBlock, JUMP, JUMPI, type OpcodePrices, pushSize } from './blocks.ts'
import { type FunctionWriter, R } from './function-writer.ts'
import { I } from './instructions.ts'
import { ACCOUNT_WORDS, type Addresses, ENVIRONMENT_WORDS, FRAME } from './layout.ts'
import { MemoryOpcodes } from './memory-opcodes.ts'
import { OperationCalls } from './operation-calls.ts'
import { BlockStack, loadLimbs, toSize, WORD_BYTES } from './stack.ts'
import { WordOpcodes } from './word-opcodes.ts'

/** Writes the opcodes of one block, except its end. */
export class BlockWriter {
  readonly #w: FunctionWriter
  readonly #code: Uint8Array
  readonly #table: OpcodePrices
  readonly #addresses: Addresses
  readonly stack: BlockStack
  readonly #calls: OperationCalls
  readonly #words: WordOpcodes
  readonly #memory: MemoryOpcodes
  /** Gas of the rest of the block after the current opcode. */
  #gasAfter: number

  constructor(w: FunctionWriter, code: Uint8Array, block: BasicBlock, table: OpcodePrices, addresses: Addresses) {
    this.#w = w
    this.#code = code
    this.#table = table
    this.#addresses = addresses
    this.#gasAfter = block.gas
    this.stack = new BlockStack(w, block.need)
    this.#calls = new OperationCalls(w, this.stack, addresses)
    this.#words = new WordOpcodes(w, this.stack, this.#calls)
    this.#memory = new MemoryOpcodes(w, this.stack)
  }

  /** Writes opcodes up to `end`, or up to a jump, which is left to the caller. */
  write(start: number, end: number): void {
    for (let pc = start; pc < end; ) {
      const op = this.#code[pc] as number
      if (op === JUMP || op === JUMPI) return
      this.#gasAfter -= this.#table.get(op)?.price ?? 0
      this.#opcode(op, pc)
      pc += 1 + pushSize(op)
    }
  }

  #opcode(op: number, pc: number): void {
    const { stack } = this
    if (op >= 0x5f && op <= 0x7f) stack.pushConstant(this.#pushed(pc, op - 0x5f))
    else if (op >= 0x80 && op <= 0x8f) stack.duplicate(op - 0x7f)
    else if (op >= 0x90 && op <= 0x9f) stack.swap(op - 0x8f)
    else if (op === 0x50) stack.release(stack.pop())
    else if (op === 0x51) this.#memory.load()
    else if (op === 0x52) this.#memory.store()
    else if (op === 0x53) this.#memory.storeByte()
    else if (op === 0x08 || op === 0x09) this.#words.ternary(op)
    else if (op === 0x15 || op === 0x19 || op === 0x1e) this.#words.unary(op)
    else if (op === 0x35) this.#loadInput()
    else if (op >= 0x30 && op !== 0x5b) this.#environment(op, pc)
    else if (op < 0x20) this.#words.binary(op)
  }

  #pushed(pc: number, size: number): bigint {
    let value = 0n
    for (let i = 1; i <= size; i++) value = (value << 8n) | BigInt(this.#code[pc + i] ?? 0)
    return value
  }

  #loadInput(): void {
    const { stack } = this
    const w = this.#w
    const offset = stack.pop()
    this.#calls.resultAddress()
    w.get(R.frame)
    w.memory(I.load32, FRAME.input)
    w.get(R.frame)
    w.memory(I.load32, FRAME.inputSize)
    toSize(w, stack.limbs(offset))
    w.call('loadInput')
    stack.pushLimbs(this.#calls.result())
    stack.release(offset)
  }

  #environment(op: number, pc: number): void {
    const w = this.#w
    const { stack } = this
    const index = ENVIRONMENT_WORDS[op]
    if (index !== undefined) {
      w.const32(this.#addresses.words + index * WORD_BYTES)
      w.set(R.address)
      stack.pushLimbs(loadLimbs(w, R.address, 0))
      return
    }
    switch (op) {
      case 0x30:
      case 0x47: {
        w.get(R.frame)
        w.memory(I.load32, FRAME.self)
        w.set(R.address)
        stack.pushLimbs(loadLimbs(w, R.address, op === 0x30 ? ACCOUNT_WORDS.address : ACCOUNT_WORDS.balance))
        return
      }
      case 0x33:
      case 0x34:
        stack.pushLimbs(loadLimbs(w, R.frame, op === 0x33 ? FRAME.caller : FRAME.callValue))
        return
      case 0x36:
      case 0x3d:
        w.get(R.frame)
        w.memory(I.load32to64, op === 0x36 ? FRAME.inputSize : FRAME.returnSize)
        break
      case 0x38:
        stack.pushConstant(BigInt(this.#code.length))
        return
      case 0x58:
        stack.pushConstant(BigInt(pc))
        return
      case 0x59:
        w.get(R.memorySize)
        break
      default:
        w.get(R.gas)
        w.const64(BigInt(this.#gasAfter))
        w.op(I.add64)
    }
    stack.pushLimbs([w.take(), 0n, 0n, 0n])
  }
}
