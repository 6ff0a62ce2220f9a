import { EVMError, type EVMResult, Message } from '@ethereumjs/evm'
import { MAX_UINT64 } from '@ethereumjs/util'
import { assert } from '../../util/assert.ts'
import { bytesToBigint, EMPTY_BYTES } from '../../util/bytes.ts'
import { asSets, isFailed } from './message-effects.ts'
import type { InterpreterBase, InterpreterClass } from './run-state.ts'

/*
 * EthereumJS' calls and creations, without the copies of logs, self-destructs and created accounts that it makes for every frame:
 * with them a transaction costs logs times calls. Rules of Osaka and before.
 */

const isReverted = ({ execResult }: EVMResult): boolean =>
  execResult.exceptionError?.error === EVMError.errorMessages.REVERT

const canOpen = ({ _env: env, common }: InterpreterBase, wei: bigint): boolean =>
  env.depth < Number(common.param('stackLimit')) && env.contract.balance >= wei

/** Runs an inner frame; a failed one leaves no effects. */
const open = async (frame: InterpreterBase, message: Message): Promise<EVMResult> => {
  const { effects } = frame._evm
  Object.assign(message, asSets(effects))
  const mark = effects.mark()
  const result = await frame._evm.runCall({ message })
  if (isFailed(result.execResult)) effects.revert(mark)
  frame.useGas(result.execResult.executionGasUsed, 'frame')
  return result
}

/** What the frame that stood has changed of its opener: the account and the refunds. */
const settle = async ({ _runState: state, _env: env }: InterpreterBase, { execResult }: EVMResult): Promise<void> => {
  const account = await state.stateManager.getAccount(env.address)
  assert(account !== undefined, 'the account of a running frame exists')
  env.contract = account
  state.gasRefund = execResult.gasRefund ?? 0n
}

export const createFrameInterpreter = (base: InterpreterClass): InterpreterClass =>
  class FrameInterpreter extends base {
    override async _baseCall(message: Message): Promise<bigint> {
      const { _runState: state } = this
      state.returnBytes = EMPTY_BYTES
      if (!canOpen(this, message.delegatecall ? 0n : message.value)) return 0n
      message.gasRefund = state.gasRefund
      const result = await open(this, message)
      const { exceptionError, returnValue } = result.execResult
      if (exceptionError === undefined || isReverted(result)) state.returnBytes = returnValue ?? EMPTY_BYTES
      if (exceptionError !== undefined) return 0n
      await settle(this, result)
      return 1n
    }

    override async create(gasLimit: bigint, value: bigint, data: Uint8Array, salt?: Uint8Array): Promise<bigint> {
      const { _runState: state, _env: env } = this
      state.returnBytes = EMPTY_BYTES
      if (!canOpen(this, value) || env.contract.nonce >= MAX_UINT64) return 0n
      env.contract.nonce += 1n
      await this.journal.putAccount(env.address, env.contract)
      const { blobVersionedHashes } = env
      const message = { caller: env.address, gasLimit, value, data, depth: env.depth + 1, gasRefund: state.gasRefund }
      const result = await open(this, new Message({ ...message, blobVersionedHashes, ...(salt && { salt }) }))
      if (isReverted(result)) state.returnBytes = result.execResult.returnValue
      if (isFailed(result.execResult)) return 0n
      await settle(this, result)
      return result.createdAddress === undefined ? 0n : bytesToBigint(result.createdAddress.bytes)
    }
  }
