import { copyBytes, type Hex } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { CALL_LIMITS } from '../../config/limits/clients.ts'
import type { AccessListEntry } from '../../primitives/transaction/transaction.ts'
import type { AccessRecorder } from '../engine.ts'
import { REASON } from '../failure-reasons.ts'
import {
  type CallContext,
  type CallOutcome,
  callError,
  callFailureError,
  callGas,
  callMinimumGas,
  callRecipient,
  checkValue,
  offeredPrice,
  type PreparedCall,
  prepareCall,
  runCall,
  runsNoCode,
} from './message/call-message.ts'
import type { AccessListResult, CallRequest, CallResult } from './types.ts'

/** Read-only execution on a state, as `CallService` runs it in its workers. Errors are CodedError<CallError>. */
export const call = async (context: CallContext, request: CallRequest): Promise<CallResult> => {
  const prepared = await prepareCall(context, request)
  const gas = callGas(request.message)
  checkValue(prepared)
  const outcome = await runCall(prepared, gas)
  if (outcome.failure !== null) throw callFailureError(outcome)
  return { output: copyBytes(outcome.output), gasUsed: outcome.gasUsed }
}

/** A run with a list may touch more than the run that made it; three rounds are usually enough. */
const MAX_ROUNDS = 8

/** Records accesses; addresses that are warm anyway are listed only with slots (as in go-ethereum). */
const createRecorder = (excluded: ReadonlySet<Hex>, start: readonly AccessListEntry[]) => {
  const entries = new Map<Hex, Set<Hex>>()
  const slotsOf = (address: Hex): Set<Hex> => getOrMake(entries, address, () => new Set())
  const recorder: AccessRecorder = {
    address: address => {
      if (!excluded.has(address)) slotsOf(address)
    },
    slot: (address, slot) => void slotsOf(address).add(slot),
  }
  for (const { address, storageKeys } of start) {
    recorder.address(address)
    for (const slot of storageKeys) recorder.slot(address, slot)
  }
  const list = (): readonly AccessListEntry[] =>
    [...entries.keys()].sort().map(address => ({ address, storageKeys: [...slotsOf(address)].sort() }))
  return { recorder, list }
}

const sizeOf = (list: readonly AccessListEntry[]): number =>
  list.reduce((sum, entry) => sum + 1 + entry.storageKeys.length, 0)

const failureText = ({ failure }: CallOutcome): string | undefined => {
  if (failure === null) return undefined
  return failure.kind === 'revert' ? REASON.revert : failure.reason
}

/** Returns a message's access list and gas with it; lists only grow. Throws INSUFFICIENT_BALANCE_FOR_TRANSFER, INTRINSIC_GAS_TOO_LOW. */
export const createAccessList = async (context: CallContext, request: CallRequest): Promise<AccessListResult> => {
  const call = await prepareCall(context, request)
  const gas = callGas(call.message)
  checkValue(call)
  const excluded = new Set([call.message.from, callRecipient(call), ...call.rules.precompiles])
  let accessList = createRecorder(excluded, call.accessList).list()
  for (let round = 1; ; round++) {
    const { recorder, list } = createRecorder(excluded, accessList)
    const outcome = await runCall({ ...call, accessList }, gas, recorder)
    const found = list()
    if (sizeOf(found) === sizeOf(accessList) || round === MAX_ROUNDS) {
      const error = failureText(outcome)
      return { accessList: found, gasUsed: outcome.gasUsed, ...(error !== undefined && { error }) }
    }
    accessList = found
  }
}

/** Smallest limit of any transaction. */
const TRANSACTION_GAS = 21_000n
/** Extra gas of the callee of a value transfer (yellow paper, G_callstipend). */
const CALL_STIPEND = 2_300n

const ranOutOfGas = ({ failure }: CallOutcome): boolean =>
  failure?.kind === 'halt' && failure.reason === REASON.outOfGas

/** Largest gas the sender can pay for; unlimited without a price. Throws INSUFFICIENT_BALANCE_FOR_TRANSFER when it lacks the value. */
const affordableGas = (call: PreparedCall, highest: bigint): bigint => {
  checkValue(call)
  const price = offeredPrice(call.message)
  if (price === 0n) return highest
  const affordable = (call.journal.balance(call.message.from) - call.message.value) / price
  return affordable < highest ? affordable : highest
}

const upperBound = ({ message, env, rules }: PreparedCall): bigint => {
  const named = message.gas !== undefined && message.gas >= TRANSACTION_GAS ? message.gas : env.gasLimit
  const most = rules.transactionGasCap ?? CALL_LIMITS.gas
  return named > most ? most : named
}

/** One attempt of the search: too little gas of any kind counts as failed. */
const succeeds = async (call: PreparedCall, gas: bigint): Promise<boolean> =>
  gas >= callMinimumGas(call) && (await runCall(call, gas)).failure === null

/** Searches the exact smallest gas limit that succeeds, above `low` (fails) and up to `high` (succeeds); `guesses` are tried first. */
const search = async (call: PreparedCall, low: bigint, high: bigint, guesses: readonly bigint[]): Promise<bigint> => {
  let [fails, works] = [low, high]
  const tryGas = async (gas: bigint): Promise<void> => {
    if (gas <= fails || gas >= works) return
    if (await succeeds(call, gas)) works = gas
    else fails = gas
  }
  for (const guess of guesses) await tryGas(guess)
  while (fails + 1n < works) await tryGas((fails + works) / 2n)
  return works
}

/** Returns the smallest gas limit that succeeds. Throws GAS_REQUIRED_EXCEEDS_ALLOWANCE, INSUFFICIENT_BALANCE_FOR_TRANSFER, EXECUTION_*. */
export const estimateGas = async (context: CallContext, request: CallRequest): Promise<bigint> => {
  const call = await prepareCall(context, request)
  const bound = upperBound(call)
  const allowance = affordableGas(call, bound)
  const minimum = callMinimumGas(call)
  if (allowance < minimum) {
    const { journal, message } = call
    const [have, want] = [journal.balance(message.from), message.value + minimum * offeredPrice(message)]
    throw allowance < bound
      ? callError({ code: 'INSUFFICIENT_BALANCE_FOR_TRANSFER', have, want })
      : callError({ code: 'GAS_REQUIRED_EXCEEDS_ALLOWANCE', allowance })
  }
  // The bytes alone determine the cost: no search is needed.
  if (runsNoCode(call)) return minimum
  const widest = await runCall(call, allowance)
  if (widest.failure !== null) {
    throw ranOutOfGas(widest)
      ? callError({ code: 'GAS_REQUIRED_EXCEEDS_ALLOWANCE', allowance })
      : callFailureError(widest)
  }
  return search(call, widest.gasUsed - 1n, allowance, guessesFrom(widest))
}

/**
 * Limits to try first: the smallest for the same run, and one less, which fails unless code reads its gas. Where the engine does not
 * know it, mostly the gas before refunds is the result; inner calls keep a 64th, for which the last guess has room.
 */
const guessesFrom = ({ leastGas, peakGas }: CallOutcome): readonly bigint[] =>
  leastGas === undefined ? [peakGas, peakGas - 1n, ((peakGas + CALL_STIPEND) * 64n) / 63n] : [leastGas, leastGas - 1n]
