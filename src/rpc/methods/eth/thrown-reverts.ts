import type { MaybePromise } from '@tandem/base/async/maybe-promise.ts'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { TRACE_LIMITS } from '../../../config/limits/clients.ts'
import { REASON } from '../../../evm/failure-reasons.ts'
import type { TraceConfig } from '../../../evm/tracers/config.ts'
import { RpcError, toRpcError } from '../../errors.ts'
import type { Context } from '../../router/context.ts'

/** Error code with which hardhat's network reports a failed transaction. */
const CODE = -32603

const TOP_CALL: TraceConfig = {
  tracer: { name: 'callTracer', onlyTopCall: true, withLog: false },
  timeoutMs: TRACE_LIMITS.timeoutMs,
}

/** Outcome of a transaction's message, from its trace. */
export interface TransactionFailure {
  readonly error?: string
  readonly output?: Hex
  readonly revertReason?: string
}

/** Returns a sent transaction's hash; with `devnet --throw-on-revert` throws as hardhat does if it is included and failed. */
export const hashUnlessReverted = (context: Context, hash: Hex): MaybePromise<Hex> =>
  context.dev?.throwsOnRevert === true ? throwIfFailed(context, hash) : hash

const throwIfFailed = async (context: Context, hash: Hex): Promise<Hex> => {
  const place = await context.view.receipt(hash)
  if (place === undefined || place.receipt.status) return hash
  const { error = REASON.revert, output = '0x', revertReason } = await failureOf(context, hash)
  const message = `Error: ${textOf(error, output, revertReason)}`
  throw new RpcError(CODE, message, { message, txHash: hash, data: output })
}

/** Failures of a call that leave no output, such as an invalid opcode. */
const WITHOUT_OUTPUT: ReadonlySet<string> = new Set(['EXECUTION_FAILED', 'GAS_REQUIRED_EXCEEDS_ALLOWANCE'])

/**
 * Result of a call or an estimate. With `devnet --throw-on-revert` an error without output names an empty one, as hardhat's own network
 * does: its matchers take an error without data for one that has nothing to do with the contract.
 */
export const withErrorData = async <T>({ dev }: Pick<Context, 'dev'>, result: Promise<T>): Promise<T> => {
  try {
    return await result
  } catch (error) {
    const told = dev?.throwsOnRevert === true && isCoded(error) && WITHOUT_OUTPUT.has(error.code) && toRpcError(error)
    throw told ? new RpcError(told.code, told.message, '0x') : error
  }
}

/** Executes the transaction again, since blocks do not keep return data. */
export const failureOf = async (reads: Pick<Context, 'view' | 'trace'>, hash: Hex): Promise<TransactionFailure> =>
  (await traceOf<TransactionFailure>(reads, hash, TOP_CALL)) ?? {}

/** Executes a transaction again with a tracer of short results; undefined where that is not possible. */
export const traceOf = async <Result>(
  { view, trace }: Pick<Context, 'view' | 'trace'>,
  hash: Hex,
  config: TraceConfig,
): Promise<Result | undefined> => {
  const place = await view.locate(hash)
  const block = place && (await view.blockByNumber(place.number))
  if (trace === undefined || place === undefined || block === undefined) return undefined
  const stream = trace.transaction(block, place.index, config)
  const parts: Uint8Array[] = []
  try {
    for (let part = await stream.next(); part !== undefined; part = await stream.next()) parts.push(part)
  } finally {
    stream.cancel()
  }
  return JSON.parse(Buffer.concat(parts).toString()) as Result
}

/** Error texts of hardhat's network, from which test suites and their matchers tell the kinds of failure. */
const textOf = (error: string, output: Hex, reason: string | undefined): string => {
  const began = 'VM Exception while processing transaction:'
  if (error === REASON.outOfGas) return 'Transaction ran out of gas'
  if (error !== REASON.revert) return `${began} ${error}`
  if (output === '0x') return 'Transaction reverted without a reason string'
  const data = hexToBytes(output)
  if (output.startsWith('0x4e487b71') && data.byteLength === 36)
    return `${began} reverted with panic code 0x${BigInt(`0x${output.slice(10)}`).toString(16)}`
  if (output.startsWith('0x08c379a0') && reason !== undefined) return `${began} reverted with reason string '${reason}'`
  return `${began} reverted with an unrecognized custom error (return data: ${output})`
}
