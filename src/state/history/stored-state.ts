import { concatBytes, EMPTY_BYTES, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { STATE_LIMITS } from '../../config/limits/storage.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import type { Snapshot, Store, StoreEntry } from '../../storage/store.ts'
import { type Account, decodeAccount, EMPTY_CODE_HASH } from '../account.ts'
import type { StateError } from '../errors.ts'
import { ACCOUNT_KEY_BYTES, binaryKey, decodeWord, FLAT_BUCKETS, hashedKey, readCode, slotKey } from '../flat-tables.ts'
import { readStateMeta, type StateMeta, stateRootAt } from '../state-meta.ts'
import { type AsyncStateReader, nextStorageVersion, type StateReader } from '../state-reader.ts'
import { type HistoryKind, valueAt } from './history-rows.ts'
import { changedAccounts, entriesAtBlock } from './range.ts'
import { collectRollback, type Rollback } from './rollback.ts'

/** Returns the state's meta row in a snapshot if block `number` is readable there. Throws MISSING_STATE. */
export const stateMetaAt = async (store: Store, number: number, snapshot: Snapshot): Promise<StateMeta> => {
  const meta = await readStateMeta(store, snapshot)
  if (meta !== undefined && number >= meta.oldest && number <= meta.number) return meta
  const root = await stateRootAt(store, number, snapshot)
  const detail: StateError = { code: 'MISSING_STATE', root }
  throw new CodedError(detail)
}

/** Opens the state after block `number` from the store alone, in any thread; the caller must release it. Throws MISSING_STATE. */
export const openStateReader = async (store: Store, number: number): Promise<StoredState> => {
  const snapshot = store.snapshot()
  try {
    const meta = await stateMetaAt(store, number, snapshot)
    return new StoredState(store, snapshot, number, meta)
  } catch (error) {
    await snapshot.close()
    throw error
  }
}

/** State after a block, read from one snapshot. */
export class StoredState implements AsyncStateReader {
  readonly number: number
  readonly headNumber: number
  /** Synchronous reads of the same state; only when `number` was the head. */
  readonly sync: SnapshotStateReader | undefined
  readonly #store: Store
  readonly #snapshot: Snapshot
  #released = false

  constructor(store: Store, snapshot: Snapshot, number: number, meta: StateMeta) {
    this.number = number
    this.headNumber = meta.number
    this.#store = store
    this.#snapshot = snapshot
    this.sync = number === meta.number ? new SnapshotStateReader(store, snapshot) : undefined
  }

  async account(address: Hex): Promise<Account | undefined> {
    const row = await this.#read('account', hashedKey(address))
    return row === undefined || row.byteLength === 0 ? undefined : decodeAccount(row)
  }

  async storage(address: Hex, slot: Hex): Promise<Hex> {
    return decodeWord(await this.#read('slot', slotKey(hashedKey(address), slot)))
  }

  async code(address: Hex): Promise<Uint8Array> {
    return this.codeOf((await this.account(address))?.codeHash ?? EMPTY_CODE_HASH)
  }

  /** Returns synchronous reads of an older state, until `release`: the head's, later changes reverted. undefined: over `limit` entries. */
  async overlay(limit: number = STATE_LIMITS.overlayEntries): Promise<StateReader | undefined> {
    const changed = await collectRollback(this.#store, this.number, this.headNumber, limit, this.#snapshot)
    return changed === undefined ? undefined : new SnapshotStateReader(this.#store, this.#snapshot, changed)
  }

  /** Yields stored accounts by their keccak256, in order from `start` on. Valid until `release`, as all iterators. */
  accounts(start: Uint8Array): AsyncGenerator<StoreEntry> {
    return entriesAtBlock(this.#store, { ...this.#at, kind: 'account', prefix: EMPTY_BYTES, start })
  }

  /** Yields stored words of one account by keccak256 of their slot, in order from `start` on. */
  async *slots(hashedAddress: Uint8Array, start: Uint8Array): AsyncGenerator<StoreEntry> {
    const range = {
      ...this.#at,
      kind: 'slot',
      prefix: hashedAddress,
      start: concatBytes(hashedAddress, start),
    } as const
    for await (const [key, word] of entriesAtBlock(this.#store, range)) yield [key.subarray(ACCOUNT_KEY_BYTES), word]
  }

  /** Returns the keccak256 hashes of accounts that differ after block `to`; `turn` is awaited between pieces of work. */
  changedUpTo(to: number, turn: () => Promise<void>): Promise<readonly Uint8Array[]> {
    return changedAccounts(this.#store, { from: this.number, to, snapshot: this.#snapshot }, turn)
  }

  async codeOf(codeHash: Hex): Promise<Uint8Array> {
    if (codeHash === EMPTY_CODE_HASH) return EMPTY_BYTES
    return (await this.#store.get(BUCKETS.code, hexToBytes(codeHash), this.#snapshot)) ?? EMPTY_BYTES
  }

  get #at() {
    return { number: this.number, snapshot: this.#snapshot }
  }

  release(): void {
    if (this.#released) return
    this.#released = true
    // Reads under way keep the snapshot until they are done; releasing cannot fail.
    this.#snapshot.close().catch(() => {})
  }

  async #read(kind: HistoryKind, key: Uint8Array): Promise<Uint8Array | undefined> {
    const old = this.sync === undefined ? await valueAt(this.#store, kind, key, this.number, this.#snapshot) : undefined
    return old ?? (await this.#store.get(FLAT_BUCKETS[kind], key, this.#snapshot))
  }
}

/** State of the head from one snapshot, or an older one: later changes reverted. Synchronous, uncached: a Journal keeps the reads of a call. */
class SnapshotStateReader implements StateReader {
  readonly storageVersion = nextStorageVersion()
  readonly #store: Store
  readonly #snapshot: Snapshot
  readonly #reverted: Rollback | undefined

  constructor(store: Store, snapshot: Snapshot, reverted?: Rollback) {
    this.#store = store
    this.#snapshot = snapshot
    this.#reverted = reverted
  }

  account(address: Hex): Account | undefined {
    const row = this.#read('account', hashedKey(address))
    return row === undefined || row.byteLength === 0 ? undefined : decodeAccount(row)
  }

  storage(address: Hex, slot: Hex): Hex {
    return decodeWord(this.#read('slot', slotKey(hashedKey(address), slot)))
  }

  code(address: Hex): Uint8Array {
    return readCode(this.#store, this.account(address)?.codeHash ?? EMPTY_CODE_HASH)
  }

  #read(kind: HistoryKind, key: Uint8Array): Uint8Array | undefined {
    const old = this.#reverted?.[kind].get(binaryKey(key))
    return old ?? this.#store.getSync(FLAT_BUCKETS[kind], key, this.#snapshot)
  }
}
