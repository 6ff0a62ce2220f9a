import { BlockWriter } from './block-writer.ts'
import { type BasicBlock, isStep, JUMP, JUMPI, pushSize, STEPS } from './blocks.ts'
import { FunctionWriter, R } from './function-writer.ts'
import { I, VOID } from './instructions.ts'
import { JumpWriter, type PartCode } from './jump-writer.ts'
import { ANSWER, FRAME } from './layout.ts'
import { PartFlow } from './part-flow.ts'
import { WORD_BYTES } from './stack.ts'

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

class PartWriter {
  readonly #w = new FunctionWriter()
  readonly #code: PartCode
  readonly #blocks: readonly BasicBlock[]
  readonly #start: number
  readonly #flow: PartFlow
  readonly #jumps: JumpWriter

  constructor(code: PartCode, blocks: readonly BasicBlock[]) {
    this.#code = code
    this.#blocks = blocks
    const { start } = blocks[0] as BasicBlock
    const indexes = new Map(blocks.map((block, i) => [block.start, i]))
    this.#start = start
    this.#flow = new PartFlow(this.#w, start, blocks.length)
    this.#jumps = new JumpWriter(this.#w, { code, flow: this.#flow, start, indexes })
  }

  write(): Uint8Array {
    const w = this.#w
    const { jump, jumpi, goto, short, leave } = this.#flow.sections
    this.#prologue()
    w.op(I.loop, VOID)
    for (let i = 0; i <= leave; i++) w.op(I.block, VOID)
    this.#switch()
    for (const [i, block] of this.#blocks.entries()) this.#flow.section(i, () => this.#block(block, i))
    this.#flow.section(jump, () => this.#jumps.resumeJump())
    this.#flow.section(jumpi, () => this.#jumps.resumeConditionalJump())
    this.#flow.section(goto, () => this.#jumps.goto())
    this.#flow.section(short, () => this.#short())
    this.#flow.section(leave, () => this.#leave())
    w.end()
    w.const32(0)
    w.end()
    return w.finish()
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
    const { jump, jumpi, leave } = this.#flow.sections
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
        this.#jumps.jump(writer)
        return
      }
      if (last === JUMPI) this.#jumps.conditionalJump(writer)
      else writer.stack.flush()
    }
    if (block.leaves || this.#blocks[index + 1]?.start !== block.end) this.#flow.leaveAt(block.end)
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
      this.#flow.if(() => this.#flow.leaveAt(start))
    }
    w.get(R.gas)
    w.const64(BigInt(gas))
    w.op(I.subtract64)
    w.tee(R.number)
    w.get(R.floor)
    w.op(I.less64)
    this.#flow.if(() => {
      this.#flow.setLabel(start)
      this.#flow.branch(this.#flow.sections.short)
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
    this.#flow.if(() => {
      w.const32(0)
      w.get(R.number)
      w.op(I.wrap, I.subtract32)
      w.set(R.answer)
      this.#flow.leaveAt(start)
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
export const writePart = (code: PartCode, blocks: readonly BasicBlock[]): Uint8Array =>
  new PartWriter(code, blocks).write()
