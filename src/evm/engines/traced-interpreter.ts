import type { Message } from '@ethereumjs/evm'
import type { Address } from '@ethereumjs/util'
import { bytesToHex, EMPTY_BYTES, type Hex } from '../../util/bytes.ts'
import type { FrameStart, FrameType, TraceHooks } from '../tracers/tracer.ts'
import { type FastEvmParts, type FastInterpreterClass, runFrame } from './fast-interpreter.ts'
import { createFrameInterpreter } from './frame-interpreter.ts'
import { OPCODES, STACK_LIMIT } from './opcode-table.ts'
import type { InterpreterClass, InterpreterResult } from './run-state.ts'
import { runTracedSteps } from './traced-loop.ts'

/** A frame that an opcode asks for; it stands until the EVM begins it. */
export type Opening = Pick<FrameStart, 'type' | 'from'>

/** What the traced interpreter needs of the EVM that owns it. */
export interface TracedEvmParts extends FastEvmParts {
  readonly trace: TraceHooks
  opening: Opening | undefined
}

/** EthereumJS' interpreter with a loop that shows every step, and with word of the frames it opens. */
export const createTracedInterpreter = (base: InterpreterClass): FastInterpreterClass =>
  class TracedInterpreter extends createFrameInterpreter(base) {
    runFast(code: Uint8Array, { table, common, clock }: FastEvmParts): Promise<InterpreterResult> {
      const { trace } = this.#evm
      return runFrame(this._runState, code, state => runTracedSteps(state, { table, common, clock, trace }))
    }

    override _baseCall(message: Message): Promise<bigint> {
      const { codeAddress, data: input, gasLimit: gas, value } = message
      const to = bytesToHex(codeAddress.bytes)
      return this.#open({ to, input, gas, value }, () => super._baseCall(message))
    }

    override create(gas: bigint, value: bigint, input: Uint8Array, salt?: Uint8Array): Promise<bigint> {
      // A creation that is refused has no address: its creator stands for it.
      return this.#open({ to: this.#address, input, gas, value }, () => super.create(gas, value, input, salt))
    }

    override _selfDestruct(to: Address): Promise<void> {
      const { tracer } = this.#evm.trace
      const { journal } = this._runState.stateManager
      const from = this.#address
      const frame = { type: 'SELFDESTRUCT', from, to: bytesToHex(to.bytes), value: journal.balance(from) } as const
      tracer.enter?.({ ...frame, depth: this.#depth, input: EMPTY_BYTES, gas: 0n })
      tracer.exit?.({ depth: this.#depth, output: EMPTY_BYTES, gasUsed: 0n, error: undefined })
      return super._selfDestruct(to)
    }

    get #evm(): TracedEvmParts {
      return this._evm as unknown as TracedEvmParts
    }

    get #address(): Hex {
      return bytesToHex(this._runState.env.address.bytes)
    }

    /** Of the frames that this one opens. */
    get #depth(): number {
      return this._runState.env.depth + 1
    }

    /** The EVM reports the frame when it begins it; one that is refused before that is reported here. */
    async #open(frame: Omit<FrameStart, 'type' | 'from' | 'depth'>, run: () => Promise<bigint>): Promise<bigint> {
      const evm = this.#evm
      const opening: Opening = {
        type: OPCODES[this._runState.opCode]?.name as FrameType,
        from: this.#address,
      }
      evm.opening = opening
      const answer = await run()
      if (evm.opening !== opening) return answer
      evm.opening = undefined
      const depth = this.#depth
      const error = depth > STACK_LIMIT ? 'max call depth exceeded' : 'insufficient balance for transfer'
      evm.trace.tracer.enter?.({ ...opening, ...frame, depth })
      evm.trace.tracer.exit?.({ depth, output: EMPTY_BYTES, gasUsed: 0n, error })
      return answer
    }
  }
