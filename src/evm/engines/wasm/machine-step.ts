import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { type OpcodeShape, SHAPES } from '../../opcodes.ts'
import type { Step } from '../../tracer.ts'
import type { Machine } from './machine.ts'
import { FRAME, SLOT } from './protocol.ts'

const WORD_BYTES = 32

/** Stack of one frame under way, as far as it is known: the words below `valid`. Its last opcode leaves those below `kept`. */
export interface KnownStack {
  readonly words: bigint[]
  valid: number
  kept: number
}

export const emptyStack = (): KnownStack => ({ words: [], valid: 0, kept: 0 })

/** The opcode that a step machine is about to run, always in the same object: a trace has millions. */
export class MachineStep implements Step {
  readonly #machine: Machine
  #frame = 0
  #self = 0
  #known = emptyStack()
  pc = 0
  op = 0
  name = ''
  depth = 0
  gas = 0n
  cost = 0n
  refund = 0n
  error: string | undefined = undefined
  stackSize = 0
  memorySize = 0

  constructor(machine: Machine) {
    this.#machine = machine
  }

  begin(frame: number, op: number, name: string, known: KnownStack): void {
    const { view } = this.#machine
    this.#frame = frame
    this.#self = view.getUint32(frame + FRAME.self, true)
    this.#known = known
    this.pc = view.getUint32(frame + FRAME.pc, true) - view.getUint32(frame + FRAME.frameCode, true)
    this.op = op
    this.name = name
    this.depth = view.getUint32(frame + FRAME.depth, true) + 1
    this.gas = view.getBigInt64(frame + FRAME.gas, true)
    this.error = undefined
    this.stackSize = (view.getUint32(frame + FRAME.sp, true) - view.getUint32(frame + FRAME.base, true)) / WORD_BYTES
    this.memorySize = view.getUint32(frame + FRAME.memorySize, true)
    known.valid = Math.min(known.valid, known.kept)
    known.kept = Math.max(0, this.stackSize - (SHAPES[op] as OpcodeShape).takes)
  }

  finish(cost: bigint, refund: number, error: string | undefined): this {
    this.cost = cost
    this.refund = BigInt(refund)
    this.error = error
    return this
  }

  get address(): Hex {
    return this.#machine.addressOf(this.#self)
  }
  get isStatic(): boolean {
    return this.#machine.view.getUint32(this.#frame + FRAME.isStatic, true) !== 0
  }

  /** Reads the words that the last opcode of the frame may have changed; only before this one runs. */
  get stack(): readonly bigint[] {
    const known = this.#known
    for (let at = known.valid; at < this.stackSize; at++) known.words[at] = this.#wordAt(at)
    known.words.length = this.stackSize
    known.valid = this.stackSize
    return known.words
  }

  /** Returns the item at this depth; 0 is the top. */
  peek(below: number): bigint {
    return this.#wordAt(this.stackSize - 1 - below)
  }

  #wordAt(at: number): bigint {
    const { view } = this.#machine
    return this.#machine.readWord(view.getUint32(this.#frame + FRAME.base, true) + at * WORD_BYTES)
  }

  get memory(): Uint8Array {
    const at = this.#machine.view.getUint32(this.#frame + FRAME.memory, true)
    return this.#machine.bytes.subarray(at, at + this.memorySize)
  }

  get returnData(): Uint8Array {
    const size = this.#machine.view.getUint32(this.#frame + FRAME.returnSize, true)
    if (size === 0) return EMPTY_BYTES
    const at = this.#machine.wasm.returnedAt()
    return this.#machine.bytes.subarray(at, at + size)
  }

  storage(slot: Hex): Hex | undefined {
    const machine = this.#machine
    machine.putWord(slot)
    const entry = machine.wasm.loadedSlot(this.#self)
    return entry === 0
      ? undefined
      : `0x${machine
          .readWord(entry + SLOT.value)
          .toString(16)
          .padStart(64, '0')}`
  }
}
