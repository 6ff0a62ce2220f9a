import { BlockWriter, toSize } from './block-writer.ts'
import { type BasicBlock, isStep, JUMP, JUMPI, type OpcodePrices, pushSize, STEPS } from './blocks.ts'
import { FunctionWriter, R } from './function-writer.ts'
import { I, VOID } from './instructions.ts'
import { type Addresses, ANSWER, FRAME } from './layout.ts'
import { loadLimbs, WORD_BYTES, type Word } from './stack.ts'
import { anyBits, constantOf } from './words.ts'

/*
 * One part of a code as one function: a loop around a switch over the PC, and in it the blocks in order, so that a jump forward is a
 * branch and any other goes through the switch. After the blocks:
 *
 *   jump, jumpi   a JUMP or JUMPI at which the interpreter paused
 *   goto          jump to the number in R.number
 *   short         gas does not suffice for the block at R.label, or the slice is over
 *   leave         writes the registers to the frame, answers with R.answer
 */

const STACK_WORDS = 1024

interface Code {
  readonly bytes: Uint8Array
  readonly destinations: ReadonlySet<number>
  readonly table: OpcodePrices
  readonly addresses: Addresses
}

class PartWriter {
  readonly #w = new FunctionWriter()
  readonly #code: Code
  readonly #blocks: readonly BasicBlock[]
  readonly #start: number
  readonly #indexes: ReadonlyMap<number, number>
  /** Index of the block, or of the section after the blocks, that is being written. */
  #at = -1
  /** Open `if`s. */
  #nested = 0

  constructor(code: Code, blocks: readonly BasicBlock[]) {
    this.#code = code
    this.#blocks = blocks
    this.#start = (blocks[0] as BasicBlock).start
    this.#indexes = new Map(blocks.map(({ start }, i) => [start, i]))
  }

  get #sections() {
    const count = this.#blocks.length
    return { jump: count, jumpi: count + 1, goto: count + 2, short: count + 3, leave: count + 4 }
  }

  write(): Uint8Array {
    const w = this.#w
    const { jump, jumpi, goto, short, leave } = this.#sections
    this.#prologue()
    w.op(I.loop, VOID)
    for (let i = 0; i <= leave; i++) w.op(I.block, VOID)
    this.#switch()
    for (const [i, block] of this.#blocks.entries()) this.#section(i, () => this.#block(block, i))
    this.#section(jump, () => this.#resumeJump())
    this.#section(jumpi, () => this.#resumeConditionalJump())
    this.#section(goto, () => this.#goto())
    this.#section(short, () => this.#short())
    this.#section(leave, () => this.#leave())
    w.end()
    w.const32(0)
    w.end()
    return w.finish()
  }

  #section(index: number, write: () => void): void {
    this.#at = index
    this.#w.end()
    write()
  }

  #prologue(): void {
    const w = this.#w
    const from = (register: number, load: number, offset: number): void => {
      w.get(R.frame)
      w.memory(load, offset)
      w.set(register)
    }
    from(R.sp, I.load32, FRAME.sp)
    from(R.base, I.load32, FRAME.base)
    from(R.data, I.load32, FRAME.memory)
    from(R.code, I.load32, FRAME.code)
    from(R.jumps, I.load32, FRAME.jumps)
    from(R.gas, I.load64, FRAME.gas)
    from(R.memorySize, I.load32to64, FRAME.memorySize)
    w.get(R.pauseAt)
    w.const64(0n)
    w.get(R.pauseAt)
    w.const64(0n)
    w.op(I.notLess64, I.select)
    w.set(R.floor)
    w.const32(ANSWER.interpret)
    w.set(R.answer)
    w.get(R.frame)
    w.memory(I.load32, FRAME.pc)
    w.get(R.code)
    w.op(I.subtract32)
    w.const32(this.#start)
    w.op(I.subtract32)
    w.set(R.label)
  }

  /** Branches to the block or jump at R.label; anything else leaves. */
  #switch(): void {
    const w = this.#w
    const { bytes } = this.#code
    const { jump, jumpi, leave } = this.#sections
    const end = (this.#blocks.at(-1) as BasicBlock).end
    const targets = new Array<number>(end - this.#start).fill(leave)
    for (const [i, { start, end: until }] of this.#blocks.entries()) {
      for (let pc = start; pc < until; pc += 1 + pushSize(bytes[pc] as number)) {
        const op = bytes[pc]
        if (op === JUMP) targets[pc - this.#start] = jump
        else if (op === JUMPI) targets[pc - this.#start] = jumpi
      }
      targets[start - this.#start] = i
    }
    w.get(R.label)
    w.op(I.brTable)
    w.out.unsigned(targets.length)
    for (const target of targets) w.out.unsigned(target)
    w.out.unsigned(leave)
  }

  #branch(section: number): void {
    this.#w.branch(section - this.#at - 1 + this.#nested)
  }
  /** Branches to the switch. */
  #again(): void {
    this.#w.branch(this.#sections.leave - this.#at + this.#nested)
  }
  #if(write: () => void): void {
    this.#w.if()
    this.#nested++
    write()
    this.#nested--
    this.#w.end()
  }
  #setLabel(pc: number): void {
    this.#w.const32(pc - this.#start)
    this.#w.set(R.label)
  }
  #leaveAt(pc: number): void {
    this.#setLabel(pc)
    this.#branch(this.#sections.leave)
  }

  #block(block: BasicBlock, index: number): void {
    const { bytes, table, addresses } = this.#code
    this.#check(block)
    const first = bytes[block.start] as number
    if (isStep(first)) this.#step(block, first)
    else {
      const w = this.#w
      w.get(R.number)
      w.set(R.gas)
      w.get(R.sp)
      w.const32(block.need * WORD_BYTES)
      w.op(I.subtract32)
      w.set(R.bottom)
      const writer = new BlockWriter(w, bytes, block, table, addresses)
      writer.write(block.start, block.end)
      const last = lastOp(bytes, block)
      if (last === JUMP) {
        this.#jump(writer)
        return
      }
      if (last === JUMPI) this.#conditionalJump(writer)
      else writer.stack.flush()
    }
    if (block.leaves || this.#blocks[index + 1]?.start !== block.end) this.#leaveAt(block.end)
  }

  /** Leaves where the stack does not fit or gas does not suffice; otherwise the gas after the block is in R.number. */
  #check({ start, need, growth, gas }: BasicBlock): void {
    const w = this.#w
    if (need > 0 || growth > 0) {
      const room = STACK_WORDS - growth - need
      w.get(R.sp)
      w.get(R.base)
      w.op(I.subtract32)
      if (need > 0) {
        w.const32(need * WORD_BYTES)
        w.op(I.subtract32)
      }
      w.const32(room * WORD_BYTES)
      w.op(I.greaterUnsigned32)
      this.#if(() => this.#leaveAt(start))
    }
    w.get(R.gas)
    w.const64(BigInt(gas))
    w.op(I.subtract64)
    w.tee(R.number)
    w.get(R.floor)
    w.op(I.less64)
    this.#if(() => {
      this.#setLabel(start)
      this.#branch(this.#sections.short)
    })
  }

  /** Opcode of the interpreter's module that works on the stack in memory. */
  #step({ start }: BasicBlock, op: keyof typeof STEPS): void {
    const w = this.#w
    const [name, takes, puts] = STEPS[op]
    w.get(R.sp)
    w.const32(WORD_BYTES)
    w.op(I.subtract32)
    w.get(R.number)
    w.call(name)
    w.tee(R.number)
    w.const64(0n)
    w.op(I.less64)
    this.#if(() => {
      w.const32(0)
      w.get(R.number)
      w.op(I.wrap, I.subtract32)
      w.set(R.answer)
      this.#leaveAt(start)
    })
    w.get(R.number)
    w.set(R.gas)
    if (takes !== puts) {
      w.get(R.sp)
      w.const32((puts - takes) * WORD_BYTES)
      w.op(I.add32)
      w.set(R.sp)
    }
    if (op !== 0x20 && puts === 1) return
    w.get(R.frame)
    w.memory(I.load32to64, FRAME.memorySize)
    w.set(R.memorySize)
  }

  #jump({ stack }: BlockWriter): void {
    const target = stack.pop()
    const known = this.#known(target)
    if (known === undefined) this.#setNumber(stack, target)
    stack.release(target)
    stack.flush()
    this.#jumpTo(known)
  }

  #conditionalJump({ stack }: BlockWriter): void {
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
    this.#if(() => this.#jumpTo(known))
  }

  #known(target: Word): bigint | undefined {
    return target.limbs && constantOf(target.limbs)
  }
  #setNumber(stack: BlockWriter['stack'], target: Word): void {
    const [low, ...high] = stack.limbs(target)
    toSize(this.#w, low, high)
    this.#w.set(R.number)
  }

  /** undefined: the destination is in R.number. */
  #jumpTo(known: bigint | undefined): void {
    if (known === undefined) {
      this.#branch(this.#sections.goto)
      return
    }
    const pc = Number(known)
    const index = this.#indexes.get(pc)
    if (!this.#code.destinations.has(pc)) {
      this.#w.return(ANSWER.invalidJump)
      return
    }
    if (index !== undefined && index > this.#at) {
      this.#branch(index)
      return
    }
    this.#setLabel(pc)
    if (index === undefined) this.#branch(this.#sections.leave)
    else this.#again()
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
    this.#if(() => this.#branch(this.#sections.leave))
    w.get(R.number)
    w.set(R.gas)
    w.get(R.sp)
    w.const32(words * WORD_BYTES)
    w.op(I.subtract32)
    w.set(R.sp)
  }
  #resumeJump(): void {
    this.#payJump(JUMP, 1)
    this.#target(0)
    this.#branch(this.#sections.goto)
  }
  #resumeConditionalJump(): void {
    const w = this.#w
    this.#payJump(JUMPI, 2)
    const condition = loadLimbs(w, R.sp, 0)
    anyBits(w, condition)
    w.op(I.eqz64)
    this.#if(() => {
      w.get(R.label)
      w.const32(1)
      w.op(I.add32)
      w.set(R.label)
      this.#again()
    })
    for (const limb of condition) w.release(limb)
    this.#target(WORD_BYTES)
  }
  /** Loads a destination to R.number. */
  #target(offset: number): void {
    const w = this.#w
    const limbs = loadLimbs(w, R.sp, offset)
    const [low, ...high] = limbs
    toSize(w, low, high)
    w.set(R.number)
    for (const limb of limbs) w.release(limb)
  }

  #goto(): void {
    const w = this.#w
    w.get(R.number)
    w.const64(BigInt(this.#code.bytes.length))
    w.op(I.notLessUnsigned64)
    this.#if(() => w.return(ANSWER.invalidJump))
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
    this.#if(() => w.return(ANSWER.invalidJump))
    w.get(R.number)
    w.op(I.wrap)
    w.const32(this.#start)
    w.op(I.subtract32)
    w.set(R.label)
    this.#again()
  }

  /** Pauses where the gas suffices for the block: R.number is what would remain. Otherwise the interpreter finds where it ends. */
  #short(): void {
    const w = this.#w
    w.const32(ANSWER.paused)
    w.const32(ANSWER.interpret)
    w.get(R.number)
    w.const64(0n)
    w.op(I.notLess64, I.select)
    w.set(R.answer)
  }

  #leave(): void {
    const w = this.#w
    w.get(R.frame)
    w.get(R.code)
    w.get(R.label)
    w.op(I.add32)
    w.const32(this.#start)
    w.op(I.add32)
    w.memory(I.store32, FRAME.pc)
    w.get(R.frame)
    w.get(R.sp)
    w.memory(I.store32, FRAME.sp)
    w.get(R.frame)
    w.get(R.gas)
    w.memory(I.store64, FRAME.gas)
    w.get(R.answer)
    w.op(I.return)
  }
}

const lastOp = (bytes: Uint8Array, { start, end }: BasicBlock): number => {
  let last = 0
  for (let pc = start; pc < end; pc += 1 + pushSize(last)) last = bytes[pc] as number
  return last
}

/** Writes the function of consecutive blocks. */
export const writePart = (code: Code, blocks: readonly BasicBlock[]): Uint8Array => new PartWriter(code, blocks).write()
