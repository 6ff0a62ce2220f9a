import { copyBytes, EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { nextNonce } from '@tandem/base/uint64.ts'
import { CALL_LIMITS } from '../../../config/limits/clients.ts'
import { createAddress } from '../../../primitives/receipt/address.ts'
import { type Authorization, effectiveGasPrice } from '../../../primitives/transaction/transaction.ts'
import { type ExecutionRules, executionRulesAt } from '../../../rules/execution-rules.ts'
import { floorGas, intrinsicGas } from '../../../rules/intrinsic-gas.ts'
import { EMPTY_CODE_HASH } from '../../../state/account.ts'
import { Journal } from '../../../state/journal/journal.ts'
import { applyAuthorizations, authorityOf } from '../../block/authorizations.ts'
import type { ExecutionContext } from '../../block/replay.ts'
import { afterRefunds, higher } from '../../block/run-transaction.ts'
import type { BlockEnv, EngineEnv } from '../../block-env.ts'
import type { AccessRecorder, CallError, EngineFailure, EngineMessage, EngineResult } from '../../engine.ts'
import { isPrecompile, type MovedPrecompiles } from '../../moved-precompiles.ts'
import type { Prefetcher } from '../../prefetched-reader.ts'
import { SliceClock } from '../../slice-clock.ts'
import type { CallRequest } from '../types.ts'
import type { BlockOverrides, CallMessage } from './call-args.ts'
import { applyOverrides } from './state-overrides.ts'

export const callError = (detail: CallError): CodedError<CallError> => new CodedError(detail)

/** Context of a call. */
export interface CallContext extends ExecutionContext {
  /** Gas that all runs of the call may still execute together, lowered by each; beyond it they throw GAS_BOUND_EXCEEDED. */
  readonly executed?: { left: bigint }
}

/** Prepared call: state and block overridden, the sender looked up. Runs leave the journal unchanged. */
export interface PreparedCall {
  readonly context: CallContext
  readonly env: EngineEnv
  readonly rules: ExecutionRules
  readonly moves: MovedPrecompiles | undefined
  readonly journal: Journal
  readonly message: CallMessage
  readonly accessList: NonNullable<CallMessage['accessList']>
  readonly authorizations: readonly Authorization[]
  /** GASPRICE, wei. */
  readonly gasPrice: bigint
  /** Slices of all runs together: each may be shorter than one. */
  readonly slices: SliceClock | undefined
}

export interface CallOutcome {
  /** Gas after refunds. */
  readonly gasUsed: bigint
  /** Gas before refunds, which the limit had to cover. */
  readonly peakGas: bigint
  /** Smallest gas limit for the same run, if code does not read its gas; undefined: not known. */
  readonly leastGas?: bigint
  readonly output: Uint8Array
  readonly failure: EngineFailure | null
}

/** Returns the block as the call sees it. Without a price its base fee is 0, as in geth: no price is below the base fee of its block. */
const envOf = (env: BlockEnv, message: CallMessage, overrides: BlockOverrides | undefined): EngineEnv => {
  const base = offeredPrice(message) === 0n ? unpricedEnv(env) : env
  if (overrides === undefined) return base
  const { blobBaseFeePerGas, ...fields } = overrides
  return { ...base, ...fields, ...blobsWith(base, blobBaseFeePerGas) }
}

/** Blob values of a block whose blob base fee is overridden, also where blocks have none. */
export const blobsWith = (
  { blobs }: Pick<BlockEnv, 'blobs'>,
  baseFeePerGas: bigint | undefined,
): Pick<BlockEnv, 'blobs'> =>
  baseFeePerGas === undefined ? {} : { blobs: { maxPerBlock: 0, ...blobs, baseFeePerGas } }

/** Throws CHAIN_ID_MISMATCH. */
export const checkCallChainId = ({ chainId: have }: CallMessage, { params }: Pick<BlockEnv, 'params'>): void => {
  const want = BigInt(params.chainId)
  if (have !== undefined && have !== want) throw callError({ code: 'CHAIN_ID_MISMATCH', have, want })
}

const unpricedEnvs = new WeakMap<BlockEnv, BlockEnv>()

/** One object per block, since engines keep what they derive from it. */
const unpricedEnv = (env: BlockEnv): BlockEnv => getOrMake(unpricedEnvs, env, () => ({ ...env, baseFeePerGas: 0n }))

/** Most wei per unit of gas that a call pays; 0: it pays nothing. */
export const offeredPrice = ({ gasPrice, maxFeePerGas = 0n }: CallMessage): bigint => gasPrice ?? maxFeePerGas

/** Returns GASPRICE: the offered price, or the base fee set by a block override. */
const priceOf = (message: CallMessage, { baseFeePerGas }: EngineEnv): bigint => {
  if (offeredPrice(message) === 0n) return baseFeePerGas
  const { gasPrice, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = message
  return gasPrice ?? effectiveGasPrice({ maxFeePerGas, maxPriorityFeePerGas }, baseFeePerGas)
}

/** Loads the accounts that authorizations make delegate. */
export const prefetchAuthorities = async (
  prefetch: Prefetcher | undefined,
  authorizations: readonly Authorization[] = [],
): Promise<void> => {
  for (const authorization of authorizations) {
    const authority = prefetch && authorityOf(authorization)
    if (authority !== undefined) await prefetch?.code(authority)
  }
}

/** Throws CHAIN_ID_MISMATCH, and as `applyOverrides`. */
export const prepareCall = async (context: CallContext, request: CallRequest): Promise<PreparedCall> => {
  const { message } = request
  checkCallChainId(message, context.env)
  const env = envOf(context.env, message, request.blockOverrides)
  const journal = new Journal(context.reader)
  const rules = executionRulesAt(env.params, env.number)
  const moves = await applyOverrides(journal, context.prefetch, request.overrides ?? {}, rules.precompiles)
  await context.prefetch?.account(message.from)
  if (message.to !== null) await context.prefetch?.code(message.to)
  const authorizations = rules.hasDelegation ? (message.authorizationList ?? []) : []
  await prefetchAuthorities(context.prefetch, authorizations)
  return {
    context,
    env,
    rules,
    moves,
    journal,
    message,
    accessList: message.accessList ?? [],
    authorizations,
    gasPrice: priceOf(message, env),
    slices: context.interrupt && new SliceClock(context.interrupt),
  }
}

/** Returns the gas of a call: its own limit, at most the node's cap. */
export const callGas = (message: CallMessage): bigint =>
  message.gas === undefined || message.gas > CALL_LIMITS.gas ? CALL_LIMITS.gas : message.gas

/** Throws INSUFFICIENT_BALANCE_FOR_TRANSFER. */
export const checkValue = ({ journal, message }: PreparedCall): void => {
  const have = journal.balance(message.from)
  if (message.value > have) throw callError({ code: 'INSUFFICIENT_BALANCE_FOR_TRANSFER', have, want: message.value })
}

const gasFields = ({ message, accessList, authorizations }: PreparedCall) => ({
  to: message.to,
  data: message.data,
  accessList,
  authorizationList: authorizations,
})

/** Gas charged before any code runs. */
const callIntrinsicGas = (call: PreparedCall): bigint => intrinsicGas(gasFields(call), call.rules.intrinsic)

/** Smallest gas the call can use. */
export const callMinimumGas = (call: PreparedCall): bigint =>
  higher(callIntrinsicGas(call), floorGas(gasFields(call), call.rules.intrinsic))

/** Returns true when no code can run: the recipient has none, and gets none. */
export const runsNoCode = ({ journal, message, rules, moves, authorizations }: PreparedCall): boolean =>
  message.to !== null &&
  authorizations.length === 0 &&
  journal.codeHash(message.to) === EMPTY_CODE_HASH &&
  !isPrecompile(rules, moves, message.to)

/** Address of the created contract; the recipient of a call. */
export const callRecipient = ({ journal, message }: PreparedCall): Hex =>
  message.to ?? createAddress(message.from, journal.nonce(message.from))

/** Runs the call with this gas limit, without fees, and reverts it; the caller checked the value. Throws INTRINSIC_GAS_TOO_LOW. */
export const runCall = async (call: PreparedCall, gas: bigint, accesses?: AccessRecorder): Promise<CallOutcome> => {
  const minimum = callMinimumGas(call)
  if (gas < minimum) throw callError({ code: 'INTRINSIC_GAS_TOO_LOW', have: gas, want: minimum })
  if (runsNoCode(call)) return { gasUsed: minimum, peakGas: minimum, output: EMPTY_BYTES, failure: null }
  const { context, env, moves, journal, slices } = call
  const pause = slices?.check()
  if (pause !== undefined) await pause
  const mark = journal.checkpoint()
  const { message, refund } = applyCallNonce(call, gas)
  const { interrupt, prefetch, executed } = context
  const ended = context.engine.run(journal, env, message, {
    discards: true,
    gasBound: executed?.left,
    ...{ interrupt, accesses, prefetch, moves },
  })
  const result = ended instanceof Promise ? await ended : ended
  journal.revert(mark)
  if (executed !== undefined) executed.left -= result.gasUsed
  return settleCall(call, { ...result, refund: result.refund + refund }, gas)
}

/** Applies the changes before a call's message: raises the nonce and delegates accounts. `refund` is for the delegations. */
export const applyCallNonce = (
  call: PreparedCall,
  gas: bigint,
): { readonly message: EngineMessage; readonly refund: bigint } => {
  const { journal, env, gasPrice, accessList } = call
  const { from, to, value, data } = call.message
  journal.setNonce(from, nextNonce(journal.nonce(from)))
  const { warm, refund } = applyAuthorizations(journal, env.params.chainId, call.authorizations)
  return { message: { from, to, value, data, gas: gas - callIntrinsicGas(call), gasPrice, accessList, warm }, refund }
}

/** Returns the final cost of a run with this gas limit: the intrinsic gas, minus capped refunds, at least the minimum. */
export const settleCall = (call: PreparedCall, result: EngineResult, gas: bigint): CallOutcome => {
  const { gasUsed, refund, output, failure, spareGas } = result
  const minimum = callMinimumGas(call)
  const used = callIntrinsicGas(call) + gasUsed
  return {
    gasUsed: higher(afterRefunds(used, refund, call.rules), minimum),
    peakGas: higher(used, minimum),
    ...(spareGas !== undefined && { leastGas: higher(gas - spareGas, minimum) }),
    output,
    failure,
  }
}

/** Returns the error of a failed run. */
export const callFailureError = ({ failure, output }: CallOutcome): CodedError<CallError> =>
  failure?.kind === 'halt'
    ? callError({ code: 'EXECUTION_FAILED', reason: failure.reason })
    : callError({ code: 'EXECUTION_REVERTED', data: copyBytes(output) })
