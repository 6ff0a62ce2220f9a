import type { Journal } from '../state/journal.ts'
import type { Hex } from '../util/bytes.ts'
import { CodedError } from '../util/errors.ts'
import type { AccountOverride, CallError, StateOverrides } from './call-types.ts'
import type { Prefetcher } from './prefetch.ts'

/** An account anew, without its slots. */
const dropStorage = (journal: Journal, address: Hex): void => {
  const nonce = journal.nonce(address)
  const code = journal.code(address)
  journal.createAccount(address)
  if (nonce !== 0) journal.setNonce(address, nonce)
  if (code.byteLength > 0) journal.setCode(address, code)
}

const applyOne = async (
  journal: Journal,
  prefetch: Prefetcher | undefined,
  address: Hex,
  override: AccountOverride,
): Promise<void> => {
  const { balance, nonce, code, state, stateDiff } = override
  await prefetch?.code(address)
  journal.setBalance(address, balance ?? journal.balance(address))
  if (state !== undefined) dropStorage(journal, address)
  if (nonce !== undefined) journal.setNonce(address, nonce)
  if (code !== undefined) journal.setCode(address, code)
  for (const [slot, word] of Object.entries(state ?? stateDiff ?? {}) as [Hex, Hex][]) {
    await prefetch?.slot(address, slot)
    journal.setStorage(address, slot, word)
  }
}

/** Puts the overrides into the journal as if the state had always been so. Throws OVERRIDE_CONFLICT. */
export const applyOverrides = async (
  journal: Journal,
  prefetch: Prefetcher | undefined,
  overrides: StateOverrides,
): Promise<void> => {
  for (const [address, override] of Object.entries(overrides) as [Hex, AccountOverride][]) {
    if (override.state !== undefined && override.stateDiff !== undefined) {
      throw new CodedError<CallError>({ code: 'OVERRIDE_CONFLICT', address })
    }
    await applyOne(journal, prefetch, address, override)
  }
  journal.endTransaction()
}
