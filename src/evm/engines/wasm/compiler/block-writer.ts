import { type BasicBlock, JUMP, JUMPI, type OpcodePrices, pushSize } from './blocks.ts'
import { type FunctionWriter, type Limb, R } from './function-writer.ts'
import { I, type ImportName, V } from './instructions.ts'
import { ACCOUNT_WORDS, type Addresses, ANSWER, ENVIRONMENT_WORDS, FRAME } from './layout.ts'
import { BlockStack, loadLimbs, WORD_BYTES, type Word } from './stack.ts'
import * as words from './words.ts'
import { constantOf, type Limbs, limbsOf } from './words.ts'

/* Opcodes of one block, except its end. */

const MAX_WORD = (1n << 256n) - 1n
const MEMORY_LIMIT = 1n << 32n
const BEYOND_MEMORY = 0xffff_ffff_ffff_ffffn

/** Functions of two words in the interpreter's module. */
const CALLED: Readonly<Record<number, ImportName>> = {
  2: 'multiply',
  4: 'divide',
  5: 'divideSigned',
  6: 'remainder',
  7: 'remainderSigned',
}
const KNOWN: Readonly<Record<number, (a: bigint, b: bigint) => bigint>> = {
  1: (a, b) => (a + b) & MAX_WORD,
  2: (a, b) => (a * b) & MAX_WORD,
  3: (a, b) => (a - b) & MAX_WORD,
  16: (a, b) => (a < b ? 1n : 0n),
  17: (a, b) => (a > b ? 1n : 0n),
  20: (a, b) => (a === b ? 1n : 0n),
  27: (a, b) => (a > 255n ? 0n : (b << a) & MAX_WORD),
  28: (a, b) => (a > 255n ? 0n : b >> a),
}

export class BlockWriter {
  readonly #w: FunctionWriter
  readonly #code: Uint8Array
  readonly #table: OpcodePrices
  readonly #addresses: Addresses
  readonly stack: BlockStack
  /** Gas of the rest of the block after the current opcode. */
  #gasAfter: number
  /** Size that the memory is known to have. */
  #knownSize = 0n

  constructor(w: FunctionWriter, code: Uint8Array, block: BasicBlock, table: OpcodePrices, addresses: Addresses) {
    this.#w = w
    this.#code = code
    this.#table = table
    this.#addresses = addresses
    this.#gasAfter = block.gas
    this.stack = new BlockStack(w, block.need)
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
    else if (op === 0x51) this.#load()
    else if (op === 0x52) this.#store()
    else if (op === 0x53) this.#storeByte()
    else if (op === 0x08 || op === 0x09) this.#ternary(op)
    else if (op === 0x15 || op === 0x19 || op === 0x1e) this.#unary(op)
    else if (op === 0x35) this.#loadInput()
    else if (op >= 0x30 && op !== 0x5b) this.#environment(op, pc)
    else if (op < 0x20) this.#binary(op)
  }

  #pushed(pc: number, size: number): bigint {
    let value = 0n
    for (let i = 1; i <= size; i++) value = (value << 8n) | BigInt(this.#code[pc + i] ?? 0)
    return value
  }

  #unary(op: number): void {
    const { stack } = this
    const w = this.#w
    const word = stack.pop()
    const limbs = stack.limbs(word)
    const value = constantOf(limbs)
    if (op === 0x19) stack.pushLimbs(words.not(w, limbs))
    else if (op === 0x1e) stack.pushLimbs(words.leadingZeros(w, limbs))
    else if (value !== undefined) stack.pushConstant(value === 0n ? 1n : 0n)
    else {
      words.anyBits(w, limbs)
      w.op(I.eqz64)
      stack.pushLimbs(words.truth(w))
    }
    stack.release(word)
  }

  #binary(op: number): void {
    const { stack } = this
    const first = stack.pop()
    const second = stack.pop()
    const known = KNOWN[op]
    const a = first.limbs && constantOf(first.limbs)
    const b = second.limbs && constantOf(second.limbs)
    if (known !== undefined && a !== undefined && b !== undefined) stack.pushConstant(known(a, b))
    else stack.pushLimbs(this.#binaryLimbs(op, first, second, a))
    stack.release(first, second)
  }

  /** `known`: the first operand, where it is a constant. */
  #binaryLimbs(op: number, first: Word, second: Word, known: bigint | undefined): Limbs {
    const called = CALLED[op]
    if (called !== undefined) return this.#called(called, [first, second])
    if (op === 0x0b || op === 0x1a || (op >= 0x1b && op <= 0x1d)) return this.#positioned(op, first, second, known)
    const w = this.#w
    const a = this.stack.limbs(first)
    const b = this.stack.limbs(second)
    switch (op) {
      case 0x01:
        return words.add(w, a, b)
      case 0x03:
        return words.subtract(w, a, b)
      case 0x16:
        return words.and(w, a, b)
      case 0x17:
        return words.or(w, a, b)
      case 0x18:
        return words.xor(w, a, b)
      case 0x14:
        words.difference(w, a, b)
        w.op(I.eqz64)
        return words.truth(w)
      default: {
        const isSwapped = op === 0x11 || op === 0x13
        words.less(w, isSwapped ? b : a, isSwapped ? a : b, op >= 0x12)
        return words.truth(w)
      }
    }
  }

  /** Opcodes whose first operand is a number of bits or bytes. */
  #positioned(op: number, first: Word, second: Word, known: bigint | undefined): Limbs {
    const w = this.#w
    if (known === undefined) return this.#positionedAtRunTime(op, first, second)
    const value = this.stack.limbs(second)
    const isFar = known > 255n
    const bits = isFar ? 256 : Number(known)
    switch (op) {
      case 0x0b:
        return known >= 31n ? shared(w, value) : words.signExtend(w, value, bits + 1)
      case 0x1a:
        return known >= 32n ? limbsOf(0n) : words.byteAt(w, value, bits)
      case 0x1b:
        return isFar ? limbsOf(0n) : words.shiftLeft(w, value, bits)
      case 0x1c:
        return isFar ? limbsOf(0n) : words.shiftRight(w, value, bits)
      default:
        return words.shiftRightSigned(w, value, bits)
    }
  }

  #positionedAtRunTime(op: number, first: Word, second: Word): Limbs {
    const w = this.#w
    const { scratch } = this.#addresses
    if (op === 0x1b) return this.#called('shiftLeft', [first, second])
    if (op === 0x1c || op === 0x1d) {
      w.const32(scratch + 3 * WORD_BYTES)
      this.#operand(first, 0)
      this.#operand(second, 1)
      if (op === 0x1c) w.const64(0n)
      else {
        w.limb(this.stack.limbs(second)[3])
        w.const64(63n)
        w.op(I.shiftRightSigned64)
      }
      w.call('shiftRight')
      return this.#result()
    }
    if (op === 0x0b) {
      // In place.
      this.#copyToScratch(second, 3)
      w.const32(scratch + 3 * WORD_BYTES)
      this.#operand(first, 0)
      w.call('signExtend')
      return this.#result()
    }
    // BYTE: from the word in memory, or zero beyond it.
    this.#copyToScratch(second, 0)
    this.#toSize(this.stack.limbs(first))
    w.set(R.number)
    w.const32(scratch + 31)
    w.get(R.number)
    w.op(I.wrap)
    w.const32(31)
    w.op(I.and32, I.subtract32)
    w.memory(I.load8, 0)
    w.const32(0)
    w.get(R.number)
    w.const64(32n)
    w.op(I.lessUnsigned64, I.select)
    return words.truth(w)
  }

  #ternary(op: number): void {
    const { stack } = this
    const operands = [stack.pop(), stack.pop(), stack.pop()]
    const result = this.#called(op === 0x08 ? 'addModulo' : 'multiplyModulo', operands)
    stack.pushLimbs(result)
    stack.release(...operands)
  }

  #called(name: ImportName, operands: readonly Word[]): Limbs {
    const w = this.#w
    w.const32(this.#addresses.scratch + 3 * WORD_BYTES)
    for (const [i, word] of operands.entries()) this.#operand(word, i)
    w.call(name)
    return this.#result()
  }
  #result(): Limbs {
    const w = this.#w
    w.const32(this.#addresses.scratch + 3 * WORD_BYTES)
    w.set(R.address)
    return loadLimbs(w, R.address, 0)
  }
  /** Leaves the address of a word on the stack: its place in memory, or a place in the scratch region. */
  #operand(word: Word, index: number): void {
    const w = this.#w
    if (word.place === undefined) {
      this.#copyToScratch(word, index)
      w.const32(this.#addresses.scratch + index * WORD_BYTES)
      return
    }
    w.get(R.bottom)
    const offset = this.stack.offsetOf(word.place)
    if (offset === 0) return
    w.const32(offset)
    w.op(I.add32)
  }
  #copyToScratch(word: Word, index: number): void {
    const w = this.#w
    const at = this.#addresses.scratch + index * WORD_BYTES
    for (const [i, limb] of this.stack.limbs(word).entries()) {
      w.const32(0)
      w.limb(limb)
      w.memory(I.store64, at + i * 8)
    }
  }

  /** Leaves on the stack (i64) the word where it fits 64 bits, else the largest number. */
  #toSize([low, ...high]: Limbs): void {
    toSize(this.#w, low, high)
  }

  #loadInput(): void {
    const { stack } = this
    const w = this.#w
    const offset = stack.pop()
    w.const32(this.#addresses.scratch + 3 * WORD_BYTES)
    w.get(R.frame)
    w.memory(I.load32, FRAME.input)
    w.get(R.frame)
    w.memory(I.load32, FRAME.inputSize)
    this.#toSize(stack.limbs(offset))
    w.call('loadInput')
    stack.pushLimbs(this.#result())
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

  /**
   * Makes the memory reach the end of a range. Returns the constant part of its offset from `data`; the rest is in the register
   * `address`, which includes `data`.
   */
  #reach(offset: Word, size: number): { readonly register: number; readonly constant: number } {
    const w = this.#w
    const limbs = this.stack.limbs(offset)
    const value = constantOf(limbs)
    if (value !== undefined) {
      const end = value > MEMORY_LIMIT ? BEYOND_MEMORY : value + BigInt(size)
      if (end > this.#knownSize) {
        w.get(R.memorySize)
        w.const64(end)
        w.op(I.lessUnsigned64)
        w.if()
        w.const64(end)
        this.#grow()
        w.end()
        if (end < MEMORY_LIMIT) this.#knownSize = (end + 31n) & ~31n
      }
      return { register: R.data, constant: value < MEMORY_LIMIT / 2n ? Number(value) : 0 }
    }
    this.#reachAtRunTime(limbs, size)
    return { register: R.address, constant: 0 }
  }

  #reachAtRunTime([low, ...high]: Limbs, size: number): void {
    const w = this.#w
    const beyond = (): void => {
      words.anyBits(w, high)
      w.limb(low)
      w.const64(32n)
      w.op(I.shiftRight64, I.or64)
    }
    const end = (): void => {
      w.limb(low)
      w.const64(BigInt(size))
      w.op(I.add64)
    }
    beyond()
    w.const64(0n)
    w.op(I.ne64)
    end()
    w.get(R.memorySize)
    w.op(I.greaterUnsigned64, I.or32)
    w.if()
    w.const64(BEYOND_MEMORY)
    end()
    beyond()
    w.const64(0n)
    w.op(I.ne64, I.select)
    this.#grow()
    w.end()
    w.get(R.data)
    w.limb(low)
    w.op(I.wrap, I.add32)
    w.set(R.address)
  }

  /** Pays for memory up to the end on the stack. A failure is final: the rest of the block cannot be paid either. */
  #grow(): void {
    const w = this.#w
    w.get(R.gas)
    w.call('growTo')
    w.tee(R.gas)
    w.const64(0n)
    w.op(I.less64)
    w.if()
    w.return(ANSWER.noGas)
    w.end()
    w.get(R.frame)
    w.memory(I.load32to64, FRAME.memorySize)
    w.set(R.memorySize)
  }

  #load(): void {
    const { stack } = this
    const w = this.#w
    const offset = stack.pop()
    const { register, constant } = this.#reach(offset, WORD_BYTES)
    const half = (from: number): readonly [Limb, Limb] => {
      w.get(register)
      w.vectorMemory(V.load, constant + from)
      w.reverse()
      w.tee(R.vector)
      w.lane(V.lane64, 0)
      const low = w.take()
      w.get(R.vector)
      w.lane(V.lane64, 1)
      return [low, w.take()]
    }
    const low = half(16)
    const high = half(0)
    stack.pushLimbs([...low, ...high])
    stack.release(offset)
  }

  #store(): void {
    const { stack } = this
    const w = this.#w
    const offset = stack.pop()
    const word = stack.pop()
    const { register, constant } = this.#reach(offset, WORD_BYTES)
    const half = (index: 0 | 2): void => {
      w.get(register)
      if (word.limbs === undefined) {
        w.get(R.bottom)
        w.vectorMemory(V.load, stack.offsetOf(word.place as number) + index * 8)
      } else {
        w.limb(word.limbs[index])
        w.op(V.prefix, V.splat64)
        w.limb(word.limbs[index + 1] as Limb)
        w.lane(V.setLane64, 1)
      }
      w.reverse()
      w.vectorMemory(V.store, constant + (index === 0 ? 16 : 0))
    }
    half(0)
    half(2)
    stack.release(offset, word)
  }

  #storeByte(): void {
    const { stack } = this
    const w = this.#w
    const offset = stack.pop()
    const word = stack.pop()
    const { register, constant } = this.#reach(offset, 1)
    w.get(register)
    w.limb(stack.limbs(word)[0])
    w.op(I.wrap)
    w.memory(I.store8, constant)
    stack.release(offset, word)
  }
}

const shared = (w: FunctionWriter, limbs: Limbs): Limbs => [
  w.share(limbs[0]),
  w.share(limbs[1]),
  w.share(limbs[2]),
  w.share(limbs[3]),
]

/** Leaves on the stack (i64) a word where it fits 64 bits, else the largest number. */
export const toSize = (w: FunctionWriter, low: Limb, high: readonly Limb[]): void => {
  w.limb(low)
  if (high.every(limb => limb === 0n)) return
  w.const64(BEYOND_MEMORY)
  words.anyBits(w, high)
  w.op(I.eqz64, I.select)
}
