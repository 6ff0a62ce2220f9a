import { EVMError, type EVMResult, type EVMRunCallOpts, type ExecResult, type Message } from '@ethereumjs/evm'
import { Address } from '@ethereumjs/util'
import { createAddress } from '../../primitives/address.ts'
import type { Journal } from '../../state/journal.ts'
import { assert } from '../../util/assert.ts'
import { bytesToHex, EMPTY_BYTES, type Hex, hexToBytes, ZERO_ADDRESS } from '../../util/bytes.ts'
import { nonceFrom } from '../../util/nonce.ts'
import type { EngineOptions } from '../engine.ts'
import type { FrameStart, TraceHooks } from '../tracers/tracer.ts'
import { baseInterpreter, FastEvm } from './fast-evm.ts'
import type { FastInterpreterClass } from './fast-interpreter.ts'
import { faultText } from './fault-text.ts'
import { createTracedInterpreter, type Opening, type TracedEvmParts } from './traced-interpreter.ts'

let interpreterClass: FastInterpreterClass | undefined

/** The same EVM with the tracer's calls in it; a class of its own, so that what is not traced pays nothing. */
export class TracedEvm extends FastEvm implements TracedEvmParts {
  opening: Opening | undefined = undefined
  #trace: TraceHooks | undefined = undefined
  /** How the code that ended last has ended: what then fails is what comes after it, the storing of a creation's code. */
  #codeError: EVMError | undefined = undefined

  get trace(): TraceHooks {
    assert(this.#trace !== undefined, 'hooks are there while a message runs')
    return this.#trace
  }

  override begin(journal: Journal, options: EngineOptions): void {
    super.begin(journal, options)
    this.#trace = options.trace
    this.opening = undefined
  }

  protected override frameClass(): FastInterpreterClass {
    interpreterClass ??= createTracedInterpreter(baseInterpreter())
    return interpreterClass
  }

  protected override async runInterpreter(message: Message): Promise<ExecResult> {
    const result = await super.runInterpreter(message)
    this.#codeError = result.exceptionError
    return result
  }

  override async runCall(options: EVMRunCallOpts): Promise<EVMResult> {
    const { tracer, flow } = this.trace
    const frame = await this.#frame(options)
    this.opening = undefined
    this.#codeError = undefined
    tracer.enter?.(frame)
    const result = await super.runCall(options)
    const { executionGasUsed: gasUsed, returnValue, exceptionError } = result.execResult
    const error = exceptionError && this.#errorText(exceptionError, frame)
    tracer.exit?.({ depth: frame.depth, output: returnValue ?? EMPTY_BYTES, gasUsed, error })
    if (flow.isFull) await flow.drained()
    return result
  }

  #errorText(error: EVMError, { type, to }: FrameStart): string {
    const { OUT_OF_GAS, CODESTORE_OUT_OF_GAS } = EVMError.errorMessages
    const isOutOfGas = error.error === OUT_OF_GAS
    const isCreation = type === 'CREATE' || type === 'CREATE2'
    if (isCreation && isOutOfGas && this.#codeError === undefined) return faultText(new EVMError(CODESTORE_OUT_OF_GAS))
    // Each has reasons of its own, which EthereumJS tells in various ways.
    if (!isCreation && !isOutOfGas && this.getPrecompile(new Address(hexToBytes(to)))) return 'precompiled failed'
    return faultText(error)
  }

  async #frame(options: EVMRunCallOpts): Promise<FrameStart> {
    const { message } = options
    if (message === undefined) return this.#topFrame(options)
    const { opening } = this
    assert(opening !== undefined, 'an opcode opens an inner frame')
    const { depth, data: input, gasLimit: gas } = message
    const value = opening.type === 'STATICCALL' ? undefined : message.value
    return { ...opening, depth, to: await this.#recipient(message), input, gas, value }
  }

  async #recipient(message: Message): Promise<Hex> {
    if (message.to !== undefined) return bytesToHex(message.codeAddress.bytes)
    // As `runCall` does before it derives the address.
    message.code = message.data
    const address = bytesToHex((await this._generateAddress(message)).bytes)
    await this.state.prefetch?.code(address)
    return address
  }

  #topFrame({ caller, to, value = 0n, data = EMPTY_BYTES, gasLimit = 0n }: EVMRunCallOpts): FrameStart {
    const from = caller === undefined ? ZERO_ADDRESS : bytesToHex(caller.bytes)
    const type = to === undefined ? 'CREATE' : 'CALL'
    const created = (): Hex => createAddress(from, nonceFrom(BigInt(this.state.journal.nonce(from)) - 1n))
    return { depth: 0, type, from, to: to ? bytesToHex(to.bytes) : created(), input: data, gas: gasLimit, value }
  }
}
