import { type FunctionWriter, R } from './function-writer.ts'
import { I, type ImportName } from './instructions.ts'
import { type OperationCalls, RESULT } from './operation-calls.ts'
import { type BlockStack, toSize, type Word } from './stack.ts'
import * as words from './words.ts'
import { constantOf, type Limbs, limbsOf } from './words.ts'

const MAX_WORD = (1n << 256n) - 1n

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

/** Writes the opcodes that compute a word from words. */
export class WordOpcodes {
  readonly #w: FunctionWriter
  readonly #stack: BlockStack
  readonly #calls: OperationCalls

  constructor(w: FunctionWriter, stack: BlockStack, calls: OperationCalls) {
    this.#w = w
    this.#stack = stack
    this.#calls = calls
  }

  /** ISZERO, NOT and CLZ. */
  unary(op: number): void {
    const stack = this.#stack
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

  /** Opcodes of two words. */
  binary(op: number): void {
    const stack = this.#stack
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
    if (called !== undefined) return this.#calls.call(called, [first, second])
    if (op === 0x0b || op === 0x1a || (op >= 0x1b && op <= 0x1d)) return this.#positioned(op, first, second, known)
    const w = this.#w
    const a = this.#stack.limbs(first)
    const b = this.#stack.limbs(second)
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
    const value = this.#stack.limbs(second)
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
    if (op === 0x1b) return this.#calls.call('shiftLeft', [first, second])
    if (op === 0x1c || op === 0x1d) {
      this.#calls.resultAddress()
      this.#calls.operand(first, 0)
      this.#calls.operand(second, 1)
      if (op === 0x1c) w.const64(0n)
      else {
        w.limb(this.#stack.limbs(second)[3])
        w.const64(63n)
        w.op(I.shiftRightSigned64)
      }
      w.call('shiftRight')
      return this.#calls.result()
    }
    if (op === 0x0b) {
      // In place.
      this.#calls.copyToScratch(second, RESULT)
      this.#calls.resultAddress()
      this.#calls.operand(first, 0)
      w.call('signExtend')
      return this.#calls.result()
    }
    // BYTE: from the word in memory, or zero beyond it.
    this.#calls.copyToScratch(second, 0)
    toSize(w, this.#stack.limbs(first))
    w.set(R.number)
    w.const32(this.#calls.placeOf(0) + 31)
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

  /** ADDMOD and MULMOD. */
  ternary(op: number): void {
    const stack = this.#stack
    const operands = [stack.pop(), stack.pop(), stack.pop()]
    const result = this.#calls.call(op === 0x08 ? 'addModulo' : 'multiplyModulo', operands)
    stack.pushLimbs(result)
    stack.release(...operands)
  }
}

const shared = (w: FunctionWriter, limbs: Limbs): Limbs => [
  w.share(limbs[0]),
  w.share(limbs[1]),
  w.share(limbs[2]),
  w.share(limbs[3]),
]
