import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import type { Fault } from '../fault.ts'
import type { Code } from './code.ts'
import type { Memory, Workspace } from './memory.ts'

/** Gas is counted in a number, exact up to this; the excess of a message is kept separately. */
const COUNTED = 2n ** 48n
const COUNTED_NUMBER = 2 ** 48

/** List lengths of a message at the start of a frame, to which a failing frame reverts. */
export interface FrameMarks {
  readonly journal: number
  readonly access: number
  readonly transient: number
  readonly logs: number
  readonly internal: number
  readonly destroyed: number
  readonly created: number
  readonly refund: number
}

/** Message values visible to code. */
export interface FrameContext {
  /** Account whose storage and balance the code uses. */
  readonly address: Hex
  readonly addressWord: bigint
  readonly caller: Hex
  readonly callerWord: bigint
  readonly value: bigint
  readonly input: Uint8Array
  readonly isStatic: boolean
  /** True for init code. */
  readonly isCreation: boolean
}

/** Frame of running code, or of code that waits for the frame it opened. */
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
  /** Height of the stack. */
  height = 0
  pc = 0
  /** Current opcode. */
  op = 0
  gas = 0
  spareGas = 0n
  /** Return data of the last call of this frame. */
  returnData: Uint8Array = EMPTY_BYTES
  /** Range of memory for the output of the call under way. */
  answerAt = 0
  answerSize = 0
  /** Output of this frame. */
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

  /** Returns the item at this depth; 0 is the top. */
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

  /** Moves separate gas to the counter after it went below zero; returns true when that was enough. */
  refill(): boolean {
    while (this.gas < 0 && this.gas > -COUNTED_NUMBER && this.spareGas > 0n) {
      this.spareGas -= COUNTED
      this.gas += COUNTED_NUMBER
    }
    return this.gas >= 0
  }

  /** Takes gas for a frame to open, or returns it (negative); at most the remaining gas. */
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

/* Signals of an opcode; nothing means that its frame continues. */

/** The frame has ended. */
export const END = 1
/** Another frame is to run. */
export const SWITCH = 2
/** A promise must be awaited first. */
export const WAIT = 3
export type Signal = typeof END | typeof SWITCH | typeof WAIT

/** Result of a price function while data is loaded: it is called again. */
export const WAITING = -1
