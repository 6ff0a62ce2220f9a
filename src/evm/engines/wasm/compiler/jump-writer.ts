import type { BlockWriter } from './block-writer.ts'
import { JUMP, JUMPI, type OpcodePrices } from './blocks.ts'
import { type FunctionWriter, R } from './function-writer.ts'
import { I } from './instructions.ts'
import { type Addresses, ANSWER } from './layout.ts'
import type { PartFlow } from './part-flow.ts'
import { loadLimbs, toSize, WORD_BYTES, type Word } from './stack.ts'
import { anyBits, constantOf } from './words.ts'

/** Code that is compiled, with the prices of its fork. */
export interface PartCode {
  readonly bytes: Uint8Array
  readonly destinations: ReadonlySet<number>
  readonly table: OpcodePrices
  readonly addresses: Addresses
}

interface JumpOptions {
  readonly code: PartCode
  readonly flow: PartFlow
  /** PC at which the part begins. */
  readonly start: number
  /** Index of the block at a PC. */
  readonly indexes: ReadonlyMap<number, number>
}

/** Writes the jumps of one part. */
export class JumpWriter {
  readonly #w: FunctionWriter
  readonly #code: PartCode
  readonly #flow: PartFlow
  readonly #start: number
  readonly #indexes: ReadonlyMap<number, number>

  constructor(w: FunctionWriter, { code, flow, start, indexes }: JumpOptions) {
    this.#w = w
    this.#code = code
    this.#flow = flow
    this.#start = start
    this.#indexes = indexes
  }

  /** JUMP at the end of a block. */
  jump({ stack }: BlockWriter): void {
    const target = stack.pop()
    const known = this.#known(target)
    if (known === undefined) this.#setNumber(stack, target)
    stack.release(target)
    stack.flush()
    this.#jumpTo(known)
  }

  /** JUMPI at the end of a block. */
  conditionalJump({ stack }: BlockWriter): void {
    const w = this.#w
    const target = stack.pop()
    const condition = stack.pop()
    const known = this.#known(target)
    if (known === undefined) this.#setNumber(stack, target)
    anyBits(w, stack.limbs(condition))
    w.const64(0n)
    w.op(I.ne64)
    w.set(R.answer)
    stack.release(target, condition)
    stack.flush()
    // R.answer keeps the condition for a moment.
    w.get(R.answer)
    w.const32(ANSWER.interpret)
    w.set(R.answer)
    this.#flow.if(() => this.#jumpTo(known))
  }

  #known(target: Word): bigint | undefined {
    return target.limbs && constantOf(target.limbs)
  }

  #setNumber(stack: BlockWriter['stack'], target: Word): void {
    toSize(this.#w, stack.limbs(target))
    this.#w.set(R.number)
  }

  /** undefined: the destination is in R.number. */
  #jumpTo(known: bigint | undefined): void {
    if (known === undefined) {
      this.#flow.branch(this.#flow.sections.goto)
      return
    }
    const pc = Number(known)
    const index = this.#indexes.get(pc)
    if (!this.#code.destinations.has(pc)) {
      this.#w.return(ANSWER.invalidJump)
      return
    }
    if (index !== undefined && index > this.#flow.at) {
      this.#flow.branch(index)
      return
    }
    this.#flow.setLabel(pc)
    if (index === undefined) this.#flow.branch(this.#flow.sections.leave)
    else this.#flow.again()
  }

  /** R.gas less the price of a jump must not be below the floor. */
  #payJump(op: number, words: number): void {
    const w = this.#w
    w.get(R.sp)
    w.get(R.base)
    w.op(I.subtract32)
    w.const32(words * WORD_BYTES)
    w.op(I.lessUnsigned32)
    w.get(R.gas)
    w.const64(BigInt(this.#code.table.get(op)?.price ?? 0))
    w.op(I.subtract64)
    w.tee(R.number)
    w.get(R.floor)
    w.op(I.less64, I.or32)
    this.#flow.if(() => this.#flow.branch(this.#flow.sections.leave))
    w.get(R.number)
    w.set(R.gas)
    w.get(R.sp)
    w.const32(words * WORD_BYTES)
    w.op(I.subtract32)
    w.set(R.sp)
  }

  /** JUMP at which the interpreter paused. */
  resumeJump(): void {
    this.#payJump(JUMP, 1)
    this.#target(0)
    this.#flow.branch(this.#flow.sections.goto)
  }

  /** JUMPI at which the interpreter paused. */
  resumeConditionalJump(): void {
    const w = this.#w
    this.#payJump(JUMPI, 2)
    const condition = loadLimbs(w, R.sp, 0)
    anyBits(w, condition)
    w.op(I.eqz64)
    this.#flow.if(() => {
      w.get(R.label)
      w.const32(1)
      w.op(I.add32)
      w.set(R.label)
      this.#flow.again()
    })
    for (const limb of condition) w.release(limb)
    this.#target(WORD_BYTES)
  }

  /** Loads a destination to R.number. */
  #target(offset: number): void {
    const w = this.#w
    const limbs = loadLimbs(w, R.sp, offset)
    toSize(w, limbs)
    w.set(R.number)
    for (const limb of limbs) w.release(limb)
  }

  /** Jumps to the number in R.number, if a JUMPDEST is there. */
  goto(): void {
    const w = this.#w
    w.get(R.number)
    w.const64(BigInt(this.#code.bytes.length))
    w.op(I.notLessUnsigned64)
    this.#flow.if(() => w.return(ANSWER.invalidJump))
    w.get(R.jumps)
    w.get(R.number)
    w.op(I.wrap)
    w.const32(3)
    w.op(I.shiftRight32, I.add32)
    w.memory(I.load8, 0)
    w.get(R.number)
    w.op(I.wrap)
    w.const32(7)
    w.op(I.and32, I.shiftRight32)
    w.const32(1)
    w.op(I.and32, I.eqz32)
    this.#flow.if(() => w.return(ANSWER.invalidJump))
    w.get(R.number)
    w.op(I.wrap)
    w.const32(this.#start)
    w.op(I.subtract32)
    w.set(R.label)
    this.#flow.again()
  }
}
