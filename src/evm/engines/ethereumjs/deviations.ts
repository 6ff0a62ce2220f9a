import type { Common } from '@ethereumjs/common'
import {
  type CustomPrecompile,
  EVM,
  EVMError,
  type EVMOpts,
  type EVMResult,
  type ExecResult,
  getActivePrecompiles,
  getOpcodesForHF,
  type Message,
  NobleBN254,
  type PrecompileFunc,
  paramsEVM,
} from '@ethereumjs/evm'
import { Address, createAddressFromBigInt } from '@ethereumjs/util'
import { assert } from '@tandem/base/assert.ts'
import { bytesToHex, EMPTY_BYTES, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import type { PrecompilePrice, PrecompilePrices } from '../../../config/precompile-prices.ts'
import type { Transaction } from '../../../primitives/transaction/transaction.ts'
import { gasForWork, wholePrice } from '../../../rules/execution-rules.ts'
import { PRECOMPILE_REASON } from '../../failure-reasons.ts'
import { callPrecompile, type PrecompileCall, type PrecompileResult } from '../precompiles/precompile.ts'
import { PRECOMPILES } from '../precompiles/table.ts'

/*
 * The deviations of EthereumJS from Ethereum, each mended by a subclass of its EVM, by opcodes of our own or by a check before it runs:
 *
 * 1. A creation that reverts with data whose first byte is 0xef loses its gas and its data (EIP-3541 is about deployed code only).
 * 2. CREATE and CREATE2 of init code that begins with 0xef00 put zero at once: no nonce is counted, no gas is burnt, the return data stays.
 * 3. EXTCODESIZE, EXTCODECOPY and EXTCODEHASH see only 0xef00 of code that begins with it (EIP-3540, which no fork has).
 * 4. The first byte of a blob's hash is read as two decimal digits: 0x1a is version 1 too.
 * 5. A precompile that its options take away stays warm.
 *
 * `engines/ethereumjs/deviations.test.ts` holds each, and that the library as it comes still has it: docs/design/evm-engine.md.
 */

export type CustomOpcode = Extract<NonNullable<EVMOpts['customOpcodes']>[number], { logicFunction: unknown }>
export type Logic = CustomOpcode['logicFunction']
export type OpcodeState = Parameters<Logic>[0]

const OBJECT_FORMAT_BYTE = 0xef

const isObjectFormat = (code: Uint8Array): boolean => code[0] === OBJECT_FORMAT_BYTE && code[1] === 0x00

const addressFrom = (word: bigint): Address => createAddressFromBigInt(BigInt.asUintN(160, word))

const codeSize: Logic = async ({ stack, stateManager }) => {
  const address = addressFrom(stack.pop())
  stack.push(BigInt(await stateManager.getCodeSize(address)))
}

const codeCopy: Logic = async ({ stack, stateManager, memory }) => {
  const [address, to, from, length] = stack.popN(4) as [bigint, bigint, bigint, bigint]
  if (length === 0n) return
  const code = await stateManager.getCode(addressFrom(address))
  const copied = new Uint8Array(Number(length))
  if (from < BigInt(code.byteLength)) copied.set(code.subarray(Number(from), Number(from) + copied.byteLength))
  memory.write(Number(to), copied.byteLength, copied)
}

const codeHash: Logic = async ({ stack, stateManager }) => {
  const account = await stateManager.getAccount(addressFrom(stack.pop()))
  stack.push(account === undefined || account.isEmpty() ? 0n : BigInt(bytesToHex(account.codeHash)))
}

/** Init code of the creation on the stack; undefined where the library's own function fails or needs no mending. */
const objectFormatInit = ({ stack, memory, interpreter }: OpcodeState, limit: number): Uint8Array | undefined => {
  const [, offset, length] = stack.peek(3) as [bigint, bigint, bigint]
  if (interpreter.isStatic() || length === 0n || length > BigInt(limit)) return undefined
  const init = memory.read(Number(offset), Number(length))
  return isObjectFormat(init) ? init : undefined
}

/** The library's creation, also of init code that it would refuse. */
const creation =
  (own: Logic, isSalted: boolean): Logic =>
  async (state, common) => {
    const limit = common.isActivatedEIP(3860) ? Number(common.param('maxInitCodeSize')) : Number.MAX_SAFE_INTEGER
    const init = objectFormatInit(state, limit)
    if (init === undefined) return own(state, common)
    const [value, , , salt] = state.stack.popN(isSalted ? 4 : 3) as [bigint, bigint, bigint, bigint]
    const gas = state.messageGasLimit ?? 0n
    delete state.messageGasLimit
    const { interpreter } = state
    const created = isSalted
      ? await interpreter.create2(gas, value, init, hexToBytes(toWord(salt)))
      : await interpreter.create(gas, value, init)
    state.stack.push(created)
  }

const MENDED = new Map<number, (own: Logic) => Logic>([
  [0x3b, () => codeSize],
  [0x3c, () => codeCopy],
  [0x3f, () => codeHash],
  [0xf0, own => creation(own, false)],
  [0xf5, own => creation(own, true)],
])

/** Returns the opcodes of a fork with the library's own prices and functions, but mended. */
export const libraryOpcodes = (common: Common): CustomOpcode[] => {
  common.updateParams(paramsEVM)
  const { opcodeMap, opcodes } = getOpcodesForHF(common)
  return [...opcodes.values()].flatMap(({ code: opcode, name: opcodeName, fee: baseFee, dynamicGas, isInvalid }) => {
    const entry = opcodeMap[opcode]
    if (entry === undefined || isInvalid) return []
    const logicFunction = MENDED.get(opcode)?.(entry.opHandler) ?? entry.opHandler
    return { opcode, opcodeName, baseFee, logicFunction, ...(dynamicGas && { gasFunction: entry.gasHandler }) }
  })
}

/** EVM of EthereumJS without its deviations. */
export class MendedEvm extends EVM {
  /** Data of reverted creations, hidden from the check of deployed code. */
  readonly #hidden = new WeakMap<ExecResult, Uint8Array>()

  override get precompiles(): EVM['precompiles'] {
    return new Map([...super.precompiles].filter(([, run]) => run !== undefined))
  }

  protected override async runInterpreter(message: Message, options: object = {}): Promise<ExecResult> {
    const result = await super.runInterpreter(message, options)
    const reverted = result.exceptionError?.error === EVMError.errorMessages.REVERT
    if (!message.isCreate || !reverted || result.returnValue[0] !== OBJECT_FORMAT_BYTE) return result
    this.#hidden.set(result, result.returnValue)
    result.returnValue = EMPTY_BYTES
    return result
  }

  protected override async _executeCreate(message: Message): Promise<EVMResult> {
    const result = await super._executeCreate(message)
    const { execResult } = result
    execResult.returnValue = this.#hidden.get(execResult) ?? execResult.returnValue
    return result
  }
}

/** Parts of the library's EVM that each use has its own of. */
export type EvmParts = Required<Pick<EVMOpts, 'common' | 'stateManager' | 'blockchain'>>

/** Replacements of the library's own: opcodes, by default the mended ones alone, and precompiles. */
interface Replacements {
  readonly opcodes?: CustomOpcode[]
  readonly ownPrecompiles?: OwnPrecompiles | undefined
}

const mendedOpcodes = (common: Common): CustomOpcode[] =>
  libraryOpcodes(common).filter(({ opcode }) => MENDED.has(opcode))

/** Options of `MendedEvm`, with a network's prices of precompiles. */
export const evmOptions = (
  parts: EvmParts,
  prices: PrecompilePrices | null,
  { opcodes = mendedOpcodes(parts.common), ownPrecompiles }: Replacements = {},
): EVMOpts => ({
  ...parts,
  bn254: new NobleBN254(),
  customOpcodes: opcodes,
  customPrecompiles: customPrecompiles(parts.common, prices, ownPrecompiles),
})

/** True where every hash of the transaction's blobs is of version 1. */
export const hasBlobVersions = ({ blobVersionedHashes }: Transaction): boolean =>
  blobVersionedHashes?.every(hash => hash.startsWith('0x01')) ?? false

/** Arguments of this project's precompiles: the library's run to their end. */
type OwnPrecompiles = Pick<PrecompileCall, 'fork' | 'check'>

type LibraryResult = Awaited<ReturnType<PrecompileFunc>>

const libraryResult = ({ output, gasUsed, failure }: PrecompileResult): LibraryResult => ({
  returnValue: output,
  executionGasUsed: gasUsed,
  ...(failure !== undefined && { exceptionError: new EVMError(failure) }),
})

const ownFunction = (number: number, price: PrecompilePrice | undefined, own: OwnPrecompiles): PrecompileFunc => {
  const precompile = PRECOMPILES.get(number)
  assert(precompile !== undefined, 'a precompile has a row')
  return ({ data, gasLimit: gas }) => {
    const result = callPrecompile(precompile, { data, gas, price, ...own })
    return result instanceof Promise ? result.then(libraryResult) : libraryResult(result)
  }
}

/** Returns the library's function at another price. A failure consumes all gas. */
const repriced =
  (run: PrecompileFunc, price: PrecompilePrice): PrecompileFunc =>
  async input => {
    const { gasLimit } = input
    const failed = { output: EMPTY_BYTES, gasUsed: gasLimit, failure: PRECOMPILE_REASON.outOfGas }
    const gas = gasForWork(price, gasLimit)
    if (gas === undefined) return libraryResult(failed)
    const result = await run({ ...input, gasLimit: gas })
    const used = result.exceptionError === undefined ? wholePrice(price, result.executionGasUsed) : gasLimit
    return { ...result, executionGasUsed: used }
  }

/** Returns those that EthereumJS' EVM needs to have a network's prices, or the functions of this project. */
const customPrecompiles = (
  common: Common,
  prices: PrecompilePrices | null,
  own: OwnPrecompiles | undefined,
): CustomPrecompile[] => {
  common.updateParams(paramsEVM)
  return [...getActivePrecompiles(common)].flatMap(([digits, run]) => {
    const number = Number(`0x${digits}`)
    const address = new Address(hexToBytes(`0x${digits}`))
    const price = prices?.[number]
    if (price === null) return { address }
    if (own !== undefined) return { address, function: ownFunction(number, price, own) }
    return price === undefined ? [] : { address, function: repriced(run, price) }
  })
}
