import type { Hex } from '@tandem/base/bytes.ts'
import type { AccessListEntry } from '../../primitives/transaction/transaction.ts'
import type { AccessRecorder } from '../engine.ts'
import { REASON } from '../failure-reasons.ts'
import {
  type CallOutcome,
  callGas,
  callRecipient,
  checkValue,
  type PreparedCall,
  runCall,
} from './message/call-message.ts'
import type { AccessListResult } from './types.ts'

/** A run with a list may touch more than the run that made it; three rounds are usually enough. */
const MAX_ROUNDS = 8

/** Records accesses; addresses that are warm anyway are listed only with slots (as in go-ethereum). */
const createRecorder = (excluded: ReadonlySet<Hex>, start: readonly AccessListEntry[]) => {
  const entries = new Map<Hex, Set<Hex>>()
  const slotsOf = (address: Hex): Set<Hex> => {
    let slots = entries.get(address)
    if (slots === undefined) {
      slots = new Set()
      entries.set(address, slots)
    }
    return slots
  }
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

/**
 * Returns the access list for a transaction of this message, and its gas with that list. Lists only grow from round to round,
 * so equal sizes mean equal lists. Throws INSUFFICIENT_BALANCE_FOR_TRANSFER, INTRINSIC_GAS_TOO_LOW.
 */
export const findAccessList = async (call: PreparedCall): Promise<AccessListResult> => {
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
