import type { Hex } from '../../util/bytes.ts'
import { bytesToHex } from '../../util/bytes.ts'
import type { Step } from '../tracers/tracer.ts'
import type { RunState } from './run-state.ts'

/** The steps of one frame, one after the other in the same object: a trace has millions. */
export class FrameStep implements Step {
  readonly #state: RunState
  readonly address: Hex
  readonly depth: number
  pc = 0
  op = 0
  name = ''
  gas = 0n
  cost = 0n
  refund = 0n
  error: string | undefined = undefined
  memorySize = 0

  constructor(state: RunState) {
    this.#state = state
    this.address = bytesToHex(state.env.address.bytes)
    this.depth = state.env.depth + 1
  }

  get stack(): readonly bigint[] {
    return this.#state.stack._store
  }
  get stackSize(): number {
    return this.#state.stack._len
  }
  get memory(): Uint8Array {
    return this.#state.memory._store
  }
  get returnData(): Uint8Array {
    return this.#state.returnBytes
  }

  /** Notes what pricing the opcode is about to change. */
  begin(pc: number, op: number, name: string): this {
    const state = this.#state
    this.pc = pc
    this.op = op
    this.name = name
    this.gas = state.gasLeft
    this.memorySize = Number(state.memoryWordCount) * 32
    this.error = undefined
    return this
  }

  finish(cost: bigint, error?: string): this {
    this.cost = cost
    this.error = error
    this.refund = this.#state.gasRefund
    return this
  }
}
