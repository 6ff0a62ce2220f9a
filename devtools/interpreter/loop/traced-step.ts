import type { Hex } from '@tandem/base/bytes.ts'
import type { Step } from '../../../src/evm/tracer.ts'
import type { Frame } from '../frame/frame.ts'
import type { Execution } from '../transaction/execution.ts'

/** Steps of one frame, all in the same object: a trace has millions. */
export class FrameStep implements Step {
  readonly #vm: Execution
  readonly #frame: Frame
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

  constructor(vm: Execution, frame: Frame) {
    this.#vm = vm
    this.#frame = frame
    this.address = frame.context.address
    this.depth = frame.depth + 1
  }

  get stack(): readonly bigint[] {
    return this.#frame.stack
  }
  get stackSize(): number {
    return this.#frame.height
  }
  get memory(): Uint8Array {
    return this.#frame.memory.bytes
  }
  get returnData(): Uint8Array {
    return this.#frame.returnData
  }

  /** Records the values that pricing the opcode is about to change. */
  begin(pc: number, op: number, name: string): this {
    const frame = this.#frame
    this.pc = pc
    this.op = op
    this.name = name
    this.gas = frame.gasLeft
    this.memorySize = frame.memory.words * 32
    this.error = undefined
    return this
  }

  finish(cost: bigint, error?: string): this {
    this.cost = cost
    this.error = error
    this.refund = BigInt(this.#vm.refund)
    return this
  }
}
