import { type FunctionWriter, R } from './function-writer.ts'

/** Control flow within one part: branches between its sections, which are its blocks and those after them. */
export class PartFlow {
  readonly #w: FunctionWriter
  readonly #start: number
  readonly #blocks: number
  #at = -1
  /** Open `if`s. */
  #nested = 0

  /** `start`: PC at which the part begins. `blocks`: number of its blocks. */
  constructor(w: FunctionWriter, start: number, blocks: number) {
    this.#w = w
    this.#start = start
    this.#blocks = blocks
  }

  /** Index of the block, or of the section after the blocks, that is being written. */
  get at(): number {
    return this.#at
  }

  /** Indexes of the sections after the blocks. */
  get sections() {
    const count = this.#blocks
    return { jump: count, jumpi: count + 1, goto: count + 2, short: count + 3, leave: count + 4 }
  }

  /** Ends the wasm block whose branches come here, and writes what follows it. */
  section(index: number, write: () => void): void {
    this.#at = index
    this.#w.end()
    write()
  }

  /** Branches forward to a block or section. */
  branch(section: number): void {
    this.#w.branch(section - this.#at - 1 + this.#nested)
  }

  /** Branches to the switch. */
  again(): void {
    this.#w.branch(this.sections.leave - this.#at + this.#nested)
  }

  if(write: () => void): void {
    this.#w.if()
    this.#nested++
    write()
    this.#nested--
    this.#w.end()
  }

  /** Sets R.label to a PC, counted from the start of the part. */
  setLabel(pc: number): void {
    this.#w.const32(pc - this.#start)
    this.#w.set(R.label)
  }

  /** Leaves to the interpreter, which goes on at a PC. */
  leaveAt(pc: number): void {
    this.setLabel(pc)
    this.branch(this.sections.leave)
  }
}
