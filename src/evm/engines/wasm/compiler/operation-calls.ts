import { type FunctionWriter, R } from './function-writer.ts'
import { I, type ImportName } from './instructions.ts'
import type { Addresses } from './layout.ts'
import { type BlockStack, loadLimbs, WORD_BYTES, type Word } from './stack.ts'
import type { Limbs } from './words.ts'

/** Place of a result in the scratch region, after those of three operands. */
export const RESULT = 3

/** Calls of operations of the interpreter's module, which take the addresses of words and write their result to memory. */
export class OperationCalls {
  readonly #w: FunctionWriter
  readonly #stack: BlockStack
  readonly #scratch: number

  constructor(w: FunctionWriter, stack: BlockStack, { scratch }: Addresses) {
    this.#w = w
    this.#stack = stack
    this.#scratch = scratch
  }

  /** Address of a place in the scratch region. */
  placeOf(index: number): number {
    return this.#scratch + index * WORD_BYTES
  }

  /** Leaves the address of the result on the stack. */
  resultAddress(): void {
    this.#w.const32(this.placeOf(RESULT))
  }

  /** Calls an operation on words. */
  call(name: ImportName, operands: readonly Word[]): Limbs {
    const w = this.#w
    this.resultAddress()
    for (const [i, word] of operands.entries()) this.operand(word, i)
    w.call(name)
    return this.result()
  }

  /** Result of the operation that was called last. */
  result(): Limbs {
    const w = this.#w
    this.resultAddress()
    w.set(R.address)
    return loadLimbs(w, R.address, 0)
  }

  /** Leaves the address of a word on the stack: its place in memory, or a place in the scratch region. */
  operand(word: Word, index: number): void {
    const w = this.#w
    if (word.place === undefined) {
      this.copyToScratch(word, index)
      w.const32(this.placeOf(index))
      return
    }
    w.get(R.bottom)
    const offset = this.#stack.offsetOf(word.place)
    if (offset === 0) return
    w.const32(offset)
    w.op(I.add32)
  }

  copyToScratch(word: Word, index: number): void {
    const w = this.#w
    const at = this.placeOf(index)
    for (const [i, limb] of this.#stack.limbs(word).entries()) {
      w.const32(0)
      w.limb(limb)
      w.memory(I.store64, at + i * 8)
    }
  }
}
