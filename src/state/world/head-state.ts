import { assert } from '@tandem/base/assert.ts'
import { EMPTY_BYTES, freeBytes, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { Lru } from '@tandem/base/lru.ts'
import { STATE_LIMITS } from '../../config/limits/storage.ts'
import type { Snapshot, Store } from '../../storage/store.ts'
import { type Account, EMPTY_CODE_HASH, EMPTY_ROOT } from '../account.ts'
import type { StateError } from '../errors.ts'
import { binaryKey, bytesFromBinaryKey, hashedKey, readAccount, readCode, readSlot } from '../flat-tables.ts'
import { nextStorageVersion, type StateReader } from '../state-reader.ts'
import type { StateUpdate } from '../update/state-update.ts'
import { SlotCache } from './slot-cache.ts'

export interface CacheLimits {
  readonly accountCache: number
  readonly slotCache: number
  readonly codeCacheBytes: number
}

/** Divides the memory of the state: a quarter for code, a third for accounts, the rest for slots. */
export const cacheLimits = (bytes: number): CacheLimits => ({
  accountCache: Math.floor(bytes / 3 / STATE_LIMITS.accountBytes),
  slotCache: Math.floor((bytes * 5) / 12 / STATE_LIMITS.slotBytes),
  codeCacheBytes: bytes / 4,
})

interface Cached {
  readonly account: Account | undefined
  /** keccak256 of the address as binary text. */
  readonly hashed: string
}

interface HeadCounters {
  accountHits: number
  accountMisses: number
  slotHits: number
  slotMisses: number
}

/** State of the head, synchronous. Misses read a snapshot of the head; committed changes go directly into the caches. */
export class HeadState implements StateReader {
  readonly counters: HeadCounters = { accountHits: 0, accountMisses: 0, slotHits: 0, slotMisses: 0 }
  readonly #store: Store
  readonly #limits: CacheLimits
  #accounts: SecondChanceCache<Cached>
  #slots: SlotCache
  readonly #codes: Lru<Hex, Uint8Array>
  /** Sizes of codes that one read has used: the next read keeps such a code. */
  readonly #readOnce: Lru<Hex, number>
  #snapshot: Snapshot
  /** Renewed by each move of the head. */
  #version = nextStorageVersion()

  constructor(store: Store, limits: CacheLimits) {
    this.#store = store
    this.#limits = limits
    this.#accounts = new SecondChanceCache(limits.accountCache)
    this.#slots = new SlotCache(limits.slotCache)
    this.#codes = new Lru({ limit: limits.codeCacheBytes, weigh: code => code.byteLength })
    this.#readOnce = new Lru({ limit: limits.codeCacheBytes, weigh: bytes => bytes + STATE_LIMITS.accountBytes })
    this.#snapshot = store.snapshot()
  }

  get storageVersion(): number {
    return this.#version
  }

  account(address: Hex): Account | undefined {
    return this.#cached(address).account
  }

  storage(address: Hex, slot: Hex): Hex {
    const found = this.#slots.get(address, slot)
    if (found !== undefined) {
      this.counters.slotHits++
      return found
    }
    this.counters.slotMisses++
    const { account, hashed } = this.#cached(address)
    if (account === undefined || account.storageRoot === EMPTY_ROOT) return ZERO_HASH
    const word = readSlot(this.#store, bytesFromBinaryKey(hashed), slot, this.#snapshot)
    this.#slots.set(address, slot, word)
    return word
  }

  code(address: Hex): Uint8Array {
    const codeHash = this.account(address)?.codeHash ?? EMPTY_CODE_HASH
    if (codeHash === EMPTY_CODE_HASH) return EMPTY_BYTES
    const found = this.#codes.get(codeHash)
    if (found !== undefined) return found
    const code = this.#readCode(codeHash)
    this.#codes.set(codeHash, code)
    return code
  }

  useCode(address: Hex, use: (code: Uint8Array) => void): void {
    const codeHash = this.account(address)?.codeHash ?? EMPTY_CODE_HASH
    const isKept = codeHash === EMPTY_CODE_HASH || this.#codes.has(codeHash) || this.#readOnce.delete(codeHash)
    const code = isKept ? this.code(address) : this.#readCode(codeHash)
    use(code)
    if (isKept) return
    this.#readOnce.set(codeHash, code.byteLength)
    freeBytes(code)
  }

  /** Returns a view of the current state, for work that spans commits: once the head has moved it throws STATE_MOVED. */
  view(): StateReader {
    const taken = this.#version
    const checked = (): this => {
      if (this.#version !== taken) throw new CodedError<StateError>({ code: 'STATE_MOVED' })
      return this
    }
    return {
      storageVersion: taken,
      account: address => checked().account(address),
      storage: (address, slot) => checked().storage(address, slot),
      code: address => checked().code(address),
      useCode: (address, use) => checked().useCode(address, use),
    }
  }

  /** Returns the keccak256 of an address, cached with its account. */
  hashed(address: Hex): Uint8Array {
    const hashed = this.#accounts.get(address)?.hashed
    return hashed === undefined ? hashedKey(address) : bytesFromBinaryKey(hashed)
  }

  /** Moves the head synchronously; the updates of blocks in order are already durable. The promise is for closing the old snapshot. */
  advance(updates: readonly StateUpdate[]): Promise<void> {
    const before = this.#snapshot
    this.#version = nextStorageVersion()
    this.#snapshot = this.#store.snapshot()
    for (const update of updates) this.#remember(update)
    return before.close()
  }

  #remember(update: StateUpdate): void {
    for (const address of update.cleared) this.#slots.drop(address)
    for (const [address, slots] of update.storage) {
      for (const [slot, { after }] of slots) this.#slots.set(address, slot, after)
    }
    for (const [address, { after }] of update.accounts) {
      const hashed = this.#accounts.get(address)?.hashed ?? binaryKey(hashedKey(address))
      this.#accounts.set(address, { account: after, hashed })
    }
    for (const [hash, code] of update.code) this.#codes.set(hash, code)
  }

  /** The store has other values: clears the caches. Code is keyed by its hash and stays. */
  reset(): Promise<void> {
    const before = this.#snapshot
    this.#version = nextStorageVersion()
    this.#snapshot = this.#store.snapshot()
    this.#accounts = new SecondChanceCache(this.#limits.accountCache)
    this.#slots = new SlotCache(this.#limits.slotCache)
    return before.close()
  }

  async close(): Promise<void> {
    await this.#snapshot.close()
  }

  /** Reads bytes that nobody else has. */
  #readCode(codeHash: Hex): Uint8Array {
    const code = readCode(this.#store, codeHash)
    assert(code.byteLength > 0, 'the code of every account is stored')
    return code
  }

  #cached(address: Hex): Cached {
    const found = this.#accounts.get(address)
    if (found !== undefined) {
      this.counters.accountHits++
      return found
    }
    this.counters.accountMisses++
    const hashed = hashedKey(address)
    const cached = { account: readAccount(this.#store, hashed, this.#snapshot), hashed: binaryKey(hashed) }
    this.#accounts.set(address, cached)
    return cached
  }
}

interface Held<V> {
  value: V
  /** Used since the hand last passed it. */
  used: boolean
}

/**
 * Bounded map for very many small entries, with second-chance eviction: a hit sets a bit, and the hand, an iterator over the Map in
 * insertion order, skips entries used once. An LRU order by deleting and reinserting at each use would cost more per hit, and finding
 * the oldest entry in such a Map costs microseconds once it has holes.
 */
export class SecondChanceCache<V> {
  readonly #limit: number
  readonly #entries = new Map<string, Held<V>>()
  #hand = this.#entries.entries()

  /** `limit` in entries. */
  constructor(limit: number) {
    assert(limit > 0, 'cache limit must be positive')
    this.#limit = limit
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): V | undefined {
    const held = this.#entries.get(key)
    if (held === undefined) return undefined
    held.used = true
    return held.value
  }

  set(key: string, value: V): void {
    const held = this.#entries.get(key)
    if (held !== undefined) {
      held.value = value
      held.used = true
      return
    }
    if (this.#entries.size >= this.#limit) this.#evict()
    this.#entries.set(key, { value, used: false })
  }

  /** Two rounds at most: the first clears every bit. */
  #evict(): void {
    for (;;) {
      const next = this.#hand.next()
      if (next.done) {
        this.#hand = this.#entries.entries()
        continue
      }
      const [key, held] = next.value
      if (!held.used) {
        this.#entries.delete(key)
        return
      }
      held.used = false
    }
  }
}
