import type { Common } from '@ethereumjs/common'
import {
  EVM,
  EVMError,
  type EVMMockBlockchainInterface,
  type EVMResult,
  type EVMRunCallOpts,
  type ExecResult,
  type Message,
  NobleBN254,
} from '@ethereumjs/evm'
import { Address } from '@ethereumjs/util'
import { Journal } from '../../state/journal.ts'
import { assert } from '../../util/assert.ts'
import { bytesToHex, EMPTY_BYTES, type Hex, hexToBytes, ZERO_HASH } from '../../util/bytes.ts'
import type { PrecompileMoves } from '../calls/precompile-moves.ts'
import type { EngineOptions } from '../engine.ts'
import { createFastInterpreter, type FastInterpreterClass, StepClock } from './fast-interpreter.ts'
import { fastTable } from './fast-operations.ts'
import { JournalAdapter } from './journal-adapter.ts'
import { MessageEffects } from './message-effects.ts'
import { ownPrecompiles } from './precompiles/own.ts'
import type { FrameResult, InterpreterClass, InterpreterResult, OpcodeEntry } from './run-state.ts'
import { logTransfer } from './transfer-logs.ts'
import { WarmSet } from './warm-set.ts'

const ZERO = new Address(new Uint8Array(20))
const nothing = async (): Promise<void> => {}

/** Fields that EthereumJS declares private or protected and this engine sets or reads. */
interface Hidden {
  _emit: () => Promise<void>
  _opcodeMap: readonly OpcodeEntry[]
  _tx: { gasPrice: bigint; origin: Address }
  _block: unknown
  journal: WarmSet
}
const hidden = (evm: object): Hidden => evm as unknown as Hidden

/** The package does not export its interpreter: an opcode of a throw-away EVM shows it. */
const findInterpreter = async (common: Common): Promise<InterpreterClass> => {
  let found: InterpreterClass | undefined
  const stateManager = new JournalAdapter()
  stateManager.attach(new Journal({ account: () => undefined, storage: () => ZERO_HASH, code: () => EMPTY_BYTES }))
  const spy = new EVM({
    common: common.copy(),
    stateManager,
    bn254: new NobleBN254(),
    blockchain: { getBlock: nothing, putBlock: nothing, shallowCopy: nothing } as never,
    customOpcodes: [
      {
        opcode: 0x0c,
        opcodeName: 'SPY',
        baseFee: 0,
        logicFunction: state => {
          found = (state as unknown as { interpreter: { constructor: InterpreterClass } }).interpreter.constructor
        },
      },
    ],
  })
  await spy.runCode({ code: Uint8Array.of(0x0c), gasLimit: 1_000n })
  if (found === undefined) throw new Error('EthereumJS did not show its interpreter')
  return found
}

let baseClass: InterpreterClass | undefined
let interpreterClass: FastInterpreterClass | undefined

/** To be awaited once before the first FastEvm. */
export const prepareFastEvm = async (common: Common): Promise<void> => {
  baseClass ??= await findInterpreter(common)
  interpreterClass ??= createFastInterpreter(baseClass) as FastInterpreterClass
}

/** EthereumJS' own interpreter, after `prepareFastEvm`. */
export const baseInterpreter = (): InterpreterClass => {
  assert(baseClass !== undefined, 'the interpreter is found before it is used')
  return baseClass
}

/** EthereumJS' account of a frame, from the parts. Logs, self-destructs and creations stand in the effects of the message. */
const frameResult = (
  gasLimit: bigint,
  { runState: { gasLeft, gasRefund }, exceptionError }: InterpreterResult,
  { returnValue = EMPTY_BYTES }: FrameResult,
): ExecResult => {
  if (exceptionError === undefined) return { executionGasUsed: gasLimit - gasLeft, gasRefund, returnValue }
  const reverted = exceptionError.error === EVMError.errorMessages.REVERT
  return { exceptionError, executionGasUsed: reverted ? gasLimit - gasLeft : gasLimit, gasRefund, returnValue }
}

/**
 * EthereumJS' EVM with less around each frame: our loop, our warm set, no event emitter, no copies of the run state. It runs one
 * message at a time; what an interrupted message leaves behind makes an instance useless.
 */
export class FastEvm extends EVM {
  readonly state: JournalAdapter
  readonly warm: WarmSet
  readonly table: readonly OpcodeEntry[]
  clock = new StepClock(undefined)
  /** Whether transfers are logged (ERC-7528). */
  transfers = false
  /** Of the running message. */
  effects = new MessageEffects()
  #moves: PrecompileMoves | undefined = undefined

  constructor(common: Common, blockchain: EVMMockBlockchainInterface, state: JournalAdapter) {
    super({
      common,
      blockchain,
      stateManager: state,
      bn254: new NobleBN254(),
      customPrecompiles: ownPrecompiles(common),
    })
    this.state = state
    const precompiles = new Set<Hex>()
    for (const address of this.precompiles.keys()) precompiles.add(`0x${address}`)
    this.warm = new WarmSet(state, common.isActivatedEIP(2929) ? precompiles : new Set())
    const self = hidden(this)
    self._emit = nothing
    self.journal = this.warm
    this.table = fastTable(self._opcodeMap, common)
  }

  begin(journal: Journal, { interrupt, prefetch, moves, transfers = false }: EngineOptions): void {
    this.state.attach(journal, prefetch)
    this.warm.begin()
    this.clock = new StepClock(interrupt)
    this.effects = new MessageEffects()
    this.transfers = transfers
    this.#moves = moves
  }

  /** What runs the frames of this EVM. */
  protected frameClass(): FastInterpreterClass {
    assert(interpreterClass !== undefined, 'the interpreter is found before it is used')
    return interpreterClass
  }

  override getPrecompile(address: Address): ReturnType<EVM['getPrecompile']> {
    const moved = this.#moves?.get(bytesToHex(address.bytes))
    if (moved === undefined) return super.getPrecompile(address)
    return moved === null ? undefined : super.getPrecompile(new Address(hexToBytes(moved)))
  }

  override runCall(options: EVMRunCallOpts): Promise<EVMResult> {
    return this.transfers
      ? logTransfer(options, this.effects.logs, () => super.runCall(options))
      : super.runCall(options)
  }

  protected override async runInterpreter(message: Message): Promise<ExecResult> {
    const address = message.to ?? ZERO
    const { _tx: tx, _block: block } = hidden(this)
    const contract = await this.state.getAccount(address)
    const frame = {
      address,
      caller: message.caller,
      callData: message.data,
      callValue: message.value,
      code: message.code,
      isStatic: message.isStatic,
      isCreate: message.isCreate ?? false,
      depth: message.depth,
      gasPrice: tx.gasPrice,
      origin: tx.origin,
      block,
      contract,
      codeAddress: message.codeAddress,
      gasRefund: message.gasRefund,
      chargeCodeAccesses: message.chargeCodeAccesses,
      blobVersionedHashes: message.blobVersionedHashes ?? [],
      createdAddresses: message.createdAddresses,
    }
    const Interpreter = this.frameClass()
    const interpreter = new Interpreter(
      this,
      this.state,
      this.blockchain,
      frame,
      message.gasLimit,
      this.warm,
      this.performanceLogger,
    )
    const result = interpreter._result
    result.logs = this.effects.logs
    result.selfdestruct = this.effects.destroyed
    return frameResult(message.gasLimit, await interpreter.runFast(message.code as Uint8Array, this), result)
  }
}
