import { EMPTY_BYTES, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { Lru } from '@tandem/base/lru.ts'
import { CALL_LIMITS } from '../../../config/limits/clients.ts'
import { type Account, EMPTY_CODE_HASH, EMPTY_ROOT } from '../../../state/account.ts'
import { openStateReader, type StoredState } from '../../../state/history/stored-state.ts'
import type { AsyncStateReader, StateReader } from '../../../state/state-reader.ts'
import { SlotCache } from '../../../state/world/slot-cache.ts'
import type { Store } from '../../../storage/store.ts'

/** Bounded cache of reads; all of it is dropped when it is full. */
const createMemory = <Value>() => {
  const map = new Map<string, Value>()
  return {
    has: (key: string): boolean => map.has(key),
    get: (key: string): Value | undefined => map.get(key),
    set(key: string, value: Value): Value {
      if (map.size >= CALL_LIMITS.cachedItems) map.clear()
      map.set(key, value)
      return value
    },
  }
}

const cachedReader = (inner: StateReader, codes: Lru<Hex, Uint8Array>): StateReader => {
  const accounts = createMemory<Account | undefined>()
  const slots = new SlotCache(CALL_LIMITS.cachedItems)
  const { storageVersion } = inner
  const account = (address: Hex): Account | undefined =>
    accounts.has(address) ? accounts.get(address) : accounts.set(address, inner.account(address))
  return {
    ...(storageVersion !== undefined && { storageVersion }),
    account,
    storage(address, slot) {
      const known = slots.get(address, slot)
      if (known !== undefined) return known
      // An account without storage is common in calls of new contracts.
      const hasStorage = (account(address)?.storageRoot ?? EMPTY_ROOT) !== EMPTY_ROOT
      const word = hasStorage ? inner.storage(address, slot) : ZERO_HASH
      slots.set(address, slot, word)
      return word
    },
    code(address) {
      const hash = account(address)?.codeHash ?? EMPTY_CODE_HASH
      if (hash === EMPTY_CODE_HASH) return EMPTY_BYTES
      // Equal code is the same array in all calls: the interpreter caches its analysis by identity.
      return getOrMake(codes, hash, () => inner.code(address))
    },
  }
}

const cachedAsyncReader = (inner: AsyncStateReader, codes: Lru<Hex, Uint8Array>): AsyncStateReader => {
  const accounts = createMemory<Account | undefined>()
  const slots = createMemory<Hex>()
  const account = async (address: Hex): Promise<Account | undefined> =>
    accounts.has(address) ? accounts.get(address) : accounts.set(address, await inner.account(address))
  return {
    account,
    storage: async (address, slot) =>
      slots.get(address + slot) ?? slots.set(address + slot, await inner.storage(address, slot)),
    async code(address) {
      const hash = (await account(address))?.codeHash ?? EMPTY_CODE_HASH
      if (hash === EMPTY_CODE_HASH) return EMPTY_BYTES
      const code = codes.get(hash) ?? (await inner.code(address))
      return getOrMake(codes, hash, () => code)
    },
    release: () => inner.release(),
  }
}

/** State after one block: synchronous when that block was the head of its snapshot, else asynchronous. */
type OpenedState = { readonly sync: StateReader } | { readonly sync?: undefined; readonly async: AsyncStateReader }

/** Block with the revision of the chain it belongs to. */
interface Place {
  readonly number: number
  readonly revision: number
}

interface Kept {
  readonly stored: StoredState
  readonly state: OpenedState
  readonly timer: NodeJS.Timeout
  users: number
  dropped: boolean
}

/** States of recently used blocks. An open snapshot keeps old rows on disk, so unused ones are soon released. */
export const createStateCache = (store: Store) => {
  const kept = new Map<string, Promise<Kept>>()
  const codes = new Lru<Hex, Uint8Array>({ limit: CALL_LIMITS.codeCacheBytes, weigh: ({ byteLength }) => byteLength })

  const open = async ({ number }: Place, key: string): Promise<Kept> => {
    const stored = await openStateReader(store, number)
    const state: OpenedState =
      stored.sync === undefined
        ? { async: cachedAsyncReader(stored, codes) }
        : { sync: cachedReader(stored.sync, codes) }
    const timer = setTimeout(() => drop(key), CALL_LIMITS.idleStateMs).unref()
    return { stored, state, timer, users: 0, dropped: false }
  }

  const releaseUnused = (entry: Kept): void => {
    if (!entry.dropped || entry.users > 0) return
    clearTimeout(entry.timer)
    entry.stored.release()
  }

  const drop = (key: string): void => {
    const opening = kept.get(key)
    kept.delete(key)
    opening?.then(
      entry => {
        entry.dropped = true
        releaseUnused(entry)
      },
      // The requester gets the error.
      () => {},
    )
  }

  const find = (place: Place): Promise<Kept> => {
    const key = `${place.revision} ${place.number}`
    const found = kept.get(key)
    if (found !== undefined) return found
    const opening = open(place, key)
    kept.set(key, opening)
    opening.catch(() => kept.delete(key))
    const [oldest] = kept.keys()
    if (kept.size > CALL_LIMITS.cachedStates && oldest !== undefined) drop(oldest)
    return opening
  }

  /** Provides the state after a block while `work` runs. Throws MISSING_STATE. */
  return async <T>(place: Place, work: (state: OpenedState) => Promise<T>): Promise<T> => {
    const entry = await find(place)
    entry.users++
    entry.timer.refresh()
    try {
      return await work(entry.state)
    } finally {
      entry.users--
      releaseUnused(entry)
    }
  }
}
