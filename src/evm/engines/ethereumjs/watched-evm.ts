import type { EVMOpts, EVMResult, EVMRunCallOpts, ExecResult, Message, PrecompileFunc } from '@ethereumjs/evm'
import { assert } from '@tandem/base/assert.ts'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { uint64FromBigint } from '@tandem/base/uint64.ts'
import { keccak256Hex } from '../../../crypto/hash.ts'
import { create2Address, createAddress } from '../../../primitives/receipt/address.ts'
import { gasBoundExceeded } from '../../engine.ts'
import type { MovedPrecompiles } from '../../moved-precompiles.ts'
import type { FrameStart } from '../../tracer.ts'
import { MendedEvm } from './deviations.ts'
import { showImplicitStop } from './traced-step.ts'
import { errorOf, type WatchedRun } from './watched-run.ts'

/** The message's frame as traces have it, and the account whose storage it uses. */
interface Opening {
  readonly start: FrameStart
  readonly address: Hex
}

/** EVM of EthereumJS that one message at a time runs on, under the checks of a `WatchedRun`. */
export class WatchedEvm extends MendedEvm {
  #run: WatchedRun | undefined = undefined
  #precompiles: MendedEvm['precompiles'] | undefined = undefined

  constructor(options: EVMOpts) {
    super(options)
    // The fork of an instance never changes: its listener would keep every EVM of the shared instance alive.
    this.common.events.removeAllListeners('hardforkChanged')
  }

  /** The message under way. */
  get run(): WatchedRun {
    assert(this.#run !== undefined, 'a message runs')
    return this.#run
  }

  /** Starts a message; anything that one before it left is forgotten. */
  begin(run: WatchedRun): void {
    this.#run = run
    this.#precompiles = undefined
    this.journal.cleanJournal()
    this.transientStorage.clear()
  }

  end(): void {
    this.#run = undefined
  }

  /** Precompiles without those that a call moved. */
  get forkPrecompiles(): MendedEvm['precompiles'] {
    return super.precompiles
  }

  override get precompiles(): MendedEvm['precompiles'] {
    const moves = this.#run?.options.moves
    if (moves === undefined) return super.precompiles
    this.#precompiles ??= moved(super.precompiles, moves)
    return this.#precompiles
  }

  override async runCall(options: EVMRunCallOpts): Promise<EVMResult> {
    const { run } = this
    const { start, address } = options.message === undefined ? topFrame(run, options) : innerFrame(run, options.message)
    await run.options.prefetch?.code(start.to)
    const frame = run.enter(start, address)
    const result = await super.runCall(options)
    const { executionGasUsed, returnValue, exceptionError } = result.execResult
    run.exit(frame, { gasUsed: executionGasUsed, output: returnValue, error: errorOf(exceptionError) })
    return result
  }

  protected override async runInterpreter(message: Message, options: object = {}): Promise<ExecResult> {
    const result = await super.runInterpreter(message, options)
    const { frame } = this.run
    if (frame !== undefined && result.exceptionError === undefined) {
      frame.hasRun = true
      showImplicitStop(this.run, frame)
    }
    return result
  }

  protected override async runPrecompile(
    code: PrecompileFunc,
    data: Uint8Array,
    gasLimit: bigint,
  ): Promise<ExecResult> {
    const { run } = this
    if (run.frame !== undefined) run.frame.isPrecompile = true
    const left = run.gasBoundLeft()
    const limit = left === undefined || left > gasLimit ? gasLimit : left
    const result = await super.runPrecompile(code, data, limit)
    const pause = run.spend(result.executionGasUsed)
    if (pause !== undefined) await pause
    // A precompile that needs more than the bound leaves, or fails and takes all gas, has exceeded it.
    if (result.exceptionError !== undefined && limit < gasLimit) throw gasBoundExceeded()
    return result
  }
}

const topFrame = ({ journal }: WatchedRun, options: EVMRunCallOpts): Opening => {
  const { caller, to, value = 0n, data, gasLimit = 0n } = options
  assert(caller !== undefined, 'a message has a sender')
  const from = bytesToHex(caller.bytes)
  const address = to === undefined ? createdFrom(journal, from) : bytesToHex(to.bytes)
  const start: FrameStart = {
    depth: 0,
    type: to === undefined ? 'CREATE' : 'CALL',
    from,
    to: address,
    input: data ?? new Uint8Array(),
    gas: gasLimit,
    value,
  }
  return { start, address }
}

/** Returns the address of a creation whose sender's nonce is already raised. */
export const createdFrom = (journal: WatchedRun['journal'], creator: Hex): Hex => {
  const nonce = BigInt(journal.nonce(creator))
  return createAddress(creator, uint64FromBigint(nonce === 0n ? 0n : nonce - 1n))
}

const innerFrame = (run: WatchedRun, message: Message): Opening => {
  const { depth, to, caller, salt, data, gasLimit, value } = message
  const from = run.frame?.address ?? bytesToHex(caller.bytes)
  const type = run.opens
  if (to === undefined) {
    const created =
      salt === undefined ? createdFrom(run.journal, from) : create2Address(from, bytesToHex(salt), keccak256Hex(data))
    return { start: { depth, type, from, to: created, input: data, gas: gasLimit, value }, address: created }
  }
  const shown = type === 'STATICCALL' ? undefined : value
  const code = bytesToHex(message.codeAddress.bytes)
  return {
    start: { depth, type, from, to: code, input: data, gas: gasLimit, value: shown },
    address: bytesToHex(to.bytes),
  }
}

const moved = (all: MendedEvm['precompiles'], moves: MovedPrecompiles): MendedEvm['precompiles'] => {
  const result = new Map(all)
  for (const [address, from] of moves) {
    const run = from === null ? undefined : all.get(from.slice(2))
    if (run === undefined) result.delete(address.slice(2))
    else result.set(address.slice(2), run)
  }
  return result
}
