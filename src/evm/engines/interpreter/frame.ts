import { EMPTY_BYTES, type Hex } from '../../../util/bytes.ts'
import type { Code } from './code.ts'
import type { Fault } from './fault.ts'
import type { Memory, Workspace } from './memory.ts'

/** Gas is counted in a number, exact as far as this; what a message has beyond stands aside. */
const COUNTED = 2n ** 48n
const COUNTED_NUMBER = 2 ** 48

/** Where the lists of a message stood when a frame began: a frame that fails takes them back there. */
export interface FrameMarks {
  readonly journal: number
  readonly access: number
  readonly transient: number
  readonly logs: number
  readonly destroyed: number
  readonly created: number
  readonly refund: number
}

/** What code sees of its message. */
export interface FrameContext {
  /** Whose storage and balance it works on. */
  readonly address: Hex
  readonly addressWord: bigint
  readonly caller: Hex
  readonly callerWord: bigint
  readonly value: bigint
  readonly input: Uint8Array
  readonly isStatic: boolean
  /** The code is init code. */
  readonly isCreation: boolean
}

/** Code that runs, or waits for the frame it has opened. */
export class Frame {
  readonly parent: Frame | undefined
  /** 0 for the transaction's own message. */
  readonly depth: number
  readonly context: FrameContext
  readonly code: Code
  readonly marks: FrameMarks
  readonly workspace: Workspace
  readonly stack: bigint[]
  readonly memory: Memory
  /** Of the stack. */
  height = 0
  pc = 0
  /** The opcode under way. */
  op = 0
  gas = 0
  spareGas = 0n
  /** What the last call of this frame returned. */
  returnData: Uint8Array = EMPTY_BYTES
  /** Where the answer of the call under way goes. */
  answerAt = 0
  answerSize = 0
  /** What this frame returns. */
  output: Uint8Array = EMPTY_BYTES
  fault: Fault | undefined = undefined

  constructor(
    parent: Frame | undefined,
    context: FrameContext,
    code: Code,
    gas: bigint | number,
    marks: FrameMarks,
    workspace: Workspace,
  ) {
    this.parent = parent
    this.depth = parent === undefined ? 0 : parent.depth + 1
    this.context = context
    this.code = code
    this.marks = marks
    this.workspace = workspace
    this.stack = workspace.stack
    this.memory = workspace.memory
    if (typeof gas === 'number') this.gas = gas
    else this.gasLeft = gas
  }

  push(value: bigint): undefined {
    this.stack[this.height++] = value
  }

  pop(): bigint {
    return this.stack[--this.height] as bigint
  }

  /** The item so far below the top; 0 is the top. */
  peek(below: number): bigint {
    return this.stack[this.height - 1 - below] as bigint
  }

  get gasLeft(): bigint {
    return this.spareGas + BigInt(this.gas)
  }

  set gasLeft(gas: bigint) {
    this.spareGas = gas < COUNTED ? 0n : gas - (gas % COUNTED)
    this.gas = Number(gas - this.spareGas)
  }

  /** Whether there was gas aside for what was charged beyond the counted gas. */
  refill(): boolean {
    while (this.gas < 0 && this.gas > -COUNTED_NUMBER && this.spareGas > 0n) {
      this.spareGas -= COUNTED
      this.gas += COUNTED_NUMBER
    }
    return this.gas >= 0
  }

  /** Takes gas for a frame that is opened, or gives it back: no more than there is. */
  takeGas(gas: bigint | number): void {
    if (typeof gas === 'number' && this.spareGas === 0n) this.gas -= gas
    else this.gasLeft -= BigInt(gas)
  }

  giveGas(gas: bigint | number): void {
    if (typeof gas === 'number' && this.spareGas === 0n && this.gas + gas < COUNTED_NUMBER) this.gas += gas
    else this.gasLeft += BigInt(gas)
  }

  fail(fault: Fault): typeof END {
    this.fault = fault
    return END
  }
}

/* What an opcode answers beside nothing, which means that its frame goes on. */

/** The frame has ended. */
export const END = 1
/** Another frame is to run. */
export const SWITCH = 2
/** There is a promise to wait for first. */
export const WAIT = 3
export type Signal = typeof END | typeof SWITCH | typeof WAIT

/** What a price function answers while what it needs is loaded: it is asked again. */
export const WAITING = -1
