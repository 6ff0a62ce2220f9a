import { type FunctionWriter, type Limb, R } from './function-writer.ts'
import { I, V } from './instructions.ts'
import { ANSWER, FRAME } from './layout.ts'
import { BEYOND_MEMORY, type BlockStack, WORD_BYTES, type Word } from './stack.ts'
import * as words from './words.ts'
import { constantOf, type Limbs } from './words.ts'

const MEMORY_LIMIT = 1n << 32n

/** Writes the opcodes that read and write memory at an offset from the stack. */
export class MemoryOpcodes {
  readonly #w: FunctionWriter
  readonly #stack: BlockStack
  /** Size that the memory is known to have. */
  #knownSize = 0n

  constructor(w: FunctionWriter, stack: BlockStack) {
    this.#w = w
    this.#stack = stack
  }

  /**
   * Makes the memory reach the end of a range. Returns the constant part of its offset from `data`; the rest is in the register
   * `address`, which includes `data`.
   */
  #reach(offset: Word, size: number): { readonly register: number; readonly constant: number } {
    const w = this.#w
    const limbs = this.#stack.limbs(offset)
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

  /** MLOAD. */
  load(): void {
    const stack = this.#stack
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

  /** MSTORE. */
  store(): void {
    const stack = this.#stack
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

  /** MSTORE8. */
  storeByte(): void {
    const stack = this.#stack
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
