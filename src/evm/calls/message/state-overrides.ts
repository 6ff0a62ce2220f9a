import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { Journal } from '../../../state/journal/journal.ts'
import type { CallError } from '../../engine.ts'
import type { MovedPrecompiles } from '../../moved-precompiles.ts'
import type { Prefetcher } from '../../prefetched-reader.ts'
import type { AccountOverride, StateOverrides } from './call-args.ts'

/** Recreates an account without its slots. */
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
  if (balance !== undefined) journal.setBalance(address, balance)
  if (state !== undefined) dropStorage(journal, address)
  if (nonce !== undefined) journal.setNonce(address, nonce)
  if (code !== undefined) journal.setCode(address, code)
  for (const [slot, word] of Object.entries(state ?? stateDiff ?? {}) as [Hex, Hex][]) {
    await prefetch?.slot(address, slot)
    journal.setStorage(address, slot, word)
  }
}

const refuse = (detail: CallError) => new CodedError<CallError>(detail)

/** Returns the positions of moved precompiles after the overrides; undefined: as in the fork. Code at the address of one removes it. */
const precompileMoves = (
  overrides: readonly (readonly [Hex, AccountOverride])[],
  precompiles: ReadonlySet<Hex>,
): MovedPrecompiles | undefined => {
  const moves = new Map<Hex, Hex | null>()
  const named = new Set(overrides.map(([address]) => address))
  for (const [address, { code, movePrecompileTo: to }] of overrides) {
    if (to !== undefined) {
      if (!precompiles.has(address)) throw refuse({ code: 'NOT_A_PRECOMPILE', address })
      if (to === address) throw refuse({ code: 'PRECOMPILE_MOVED_TO_ITSELF', address })
      if (named.has(to)) throw refuse({ code: 'ALREADY_OVERRIDDEN', address: to })
      moves.set(to, address)
    }
    if (precompiles.has(address) && (to !== undefined || code !== undefined)) moves.set(address, null)
  }
  return moves.size === 0 ? undefined : moves
}

/** Applies the overrides as if always so. Throws OVERRIDE_CONFLICT, NOT_A_PRECOMPILE, PRECOMPILE_MOVED_TO_ITSELF, ALREADY_OVERRIDDEN. */
export const applyOverrides = async (
  journal: Journal,
  prefetch: Prefetcher | undefined,
  overrides: StateOverrides,
  precompiles: ReadonlySet<Hex>,
): Promise<MovedPrecompiles | undefined> => {
  const accounts = Object.entries(overrides) as [Hex, AccountOverride][]
  const moves = precompileMoves(accounts, precompiles)
  for (const [address, override] of accounts) {
    if (override.state !== undefined && override.stateDiff !== undefined) {
      throw refuse({ code: 'OVERRIDE_CONFLICT', address })
    }
    await applyOne(journal, prefetch, address, override)
  }
  journal.endTransaction()
  return moves
}
