import { assert } from '@tandem/base/assert.ts'
import { BoundedMutex } from '@tandem/base/async/bounded-mutex.ts'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { type MemoryShares, memoryShares, STATE_LIMITS, TRIE_LIMITS } from '../../config/limits/storage.ts'
import type { Batch } from '../../storage/batch.ts'
import type { Store } from '../../storage/store.ts'
import { EMPTY_ROOT } from '../account.ts'
import type { PackedBatch } from '../batch.ts'
import type { StateError } from '../errors.ts'
import { ACCOUNT_KEY_BYTES } from '../flat-tables.ts'
import { pruneHistory } from '../history/history-rows.ts'
import { Journal } from '../journal/journal.ts'
import { overlayReader } from '../overlay-reader.ts'
import { putStateMeta, readStateMeta, type StateMeta } from '../state-meta.ts'
import type { StateReader } from '../state-reader.ts'
import { type LoadProgress, openTrie } from '../trie/load-trie.ts'
import { previewRoots, proveAt } from '../trie/prove-account.ts'
import { PREFETCH_KEY_BYTES } from '../trie/trie.ts'
import { type TrieService, trieBusyError } from '../trie/trie-service.ts'
import type { StateProof } from '../trie/types.ts'
import { droppedSlots, isEmptyChanges, packChanges, stateUpdateFromChanges } from '../update/pack-changes.ts'
import {
  type AccountChange,
  type SlotChange,
  type StateChanges,
  type StateUpdate,
  writeStateUpdate,
} from '../update/state-update.ts'
import { type CacheLimits, cacheLimits, HeadState } from './head-state.ts'
import { putPreimagesOf } from './preimages.ts'
import { putValues, type RootedValues, rootOfValues, type StoredValues } from './replace-values.ts'

export interface WorldStateOptions {
  readonly store: Store
  /** New and empty; filled by `open`, closed by `close`. */
  readonly trie: TrieService
  readonly logger: Logger
  /** Head according to the block tables; undefined before genesis. */
  readonly head?: { readonly number: number; readonly stateRoot: Hex } | undefined
  /** Shares of the default memory when omitted. */
  readonly memory?: Pick<MemoryShares, 'trie' | 'state'>
  readonly limits?: Partial<CacheLimits>
  /** Number of blocks before the head whose state stays readable, at least 1; 'archive' keeps all. */
  readonly stateHistory?: number | 'archive'
  /** Keeps the address or slot of each key of the state tables, for dumps. */
  readonly preimages?: boolean
  readonly onProgress?: (progress: LoadProgress) => void
}

/** State on which a block is built. */
export interface BlockBase {
  readonly root: Hex
  journal(): Journal
  computeUpdate(changes: StateChanges, parentRoot: Hex): Promise<StateUpdate>
}

/**
 * State of the head and the steps to the next one: `journal` to work in, `computeUpdate` for the root, `write` into the block's batch,
 * `committed` when that batch is durable. One block at a time, or some that follow each other (`ahead`); the update of several may be computed on the head and only one written.
 */
export class WorldState implements BlockBase {
  readonly #store: Store
  readonly #trie: TrieService
  readonly #head: HeadState
  readonly #stateHistory: number
  readonly #flushBlocks: number
  readonly #keepsPreimages: boolean
  /** History up to here is not pruned. */
  #pinned = Number.MAX_SAFE_INTEGER
  /** Serializes proofs and previews on older blocks. */
  readonly #oldProofs = new BoundedMutex(TRIE_LIMITS.proofs, trieBusyError)
  /** The trie holds the update of a block that may never be committed. */
  #isTrieAhead = false
  /** Last block that the trie was told of. */
  #trieNumber = -1
  /** undefined before genesis. */
  #meta: StateMeta | undefined

  private constructor(options: WorldStateOptions, head: HeadState, meta: StateMeta | undefined) {
    this.#store = options.store
    this.#trie = options.trie
    this.#head = head
    this.#meta = meta
    const { stateHistory = STATE_LIMITS.historyBlocks, preimages = false } = options
    this.#keepsPreimages = preimages
    assert(stateHistory === 'archive' || stateHistory >= 1, 'one block of history at least')
    this.#flushBlocks = flushBlocksOf(stateHistory)
    this.#stateHistory = stateHistory === 'archive' ? Number.MAX_SAFE_INTEGER : stateHistory
  }

  /** Throws STATE_ROOT_MISMATCH or STATE_HEAD_MISMATCH when the stored state is not that of the head. */
  static async open(options: WorldStateOptions): Promise<WorldState> {
    const { store, trie, logger, head, memory = memoryShares() } = options
    const meta = await readStateMeta(store)
    if (head !== undefined && head.number !== meta?.number) {
      throw stateError({ code: 'STATE_HEAD_MISMATCH', expected: head.number, found: meta?.number ?? -1 })
    }
    const startedMs = performance.now()
    // The state of a temporary chain is small, and gone with it.
    if (!store.isEphemeral) await trie.attach(store, flushBlocksOf(options.stateHistory), memory.trie)
    const { root, from } = await openTrie({ store, trie, meta, onProgress: options.onProgress })
    if (meta !== undefined) {
      const expected = head?.stateRoot ?? meta.root
      if (root !== expected)
        throw stateError({ code: 'STATE_ROOT_MISMATCH', number: meta.number, expected, found: root })
      logger.info(
        { number: meta.number, root, from, ms: Math.round(performance.now() - startedMs) },
        'state trie opened',
      )
    }
    return new WorldState(options, new HeadState(store, { ...cacheLimits(memory.state), ...options.limits }), meta)
  }

  /** State of the committed head. During `write` it is still the previous block's. */
  get head(): StateReader {
    return this.#head
  }

  /** -1 before genesis. */
  get number(): number {
    return this.#meta?.number ?? -1
  }

  /** EMPTY_ROOT before genesis. */
  get root(): Hex {
    return this.#meta?.root ?? EMPTY_ROOT
  }

  /** Oldest block whose state is readable. */
  get oldest(): number {
    return this.#meta?.oldest ?? 0
  }

  get counters() {
    return this.#head.counters
  }

  /** Creates a working state on the head. Once the head moves, reads of anything not read before throw STATE_MOVED. */
  journal(): Journal {
    const view = this.#head.view()
    return new Journal(this.#trie.readsRows ? this.#prefetching(view) : view)
  }

  /** Returns the state for blocks that follow each other on the head, and are written together. */
  ahead(): StateAhead {
    const most = Math.min(TRIE_LIMITS.undoLayers, Math.max(1, Math.floor(this.#stateHistory / 2)))
    return new StateAhead(this.#head.view(), {
      root: this.root,
      most,
      compute: (changes, parentRoot, state) => this.#compute(changes, parentRoot, state),
    })
  }

  /** The trie reads the rows of accounts and slots in its thread while the block executes. */
  #prefetching(view: StateReader): StateReader {
    const size = TRIE_LIMITS.prefetchKeys * PREFETCH_KEY_BYTES
    let keys = new Uint8Array(size)
    let at = 0
    const add = (address: Hex, slot?: Hex): void => {
      keys.set(this.#head.hashed(address), at)
      if (slot !== undefined) {
        keys.set(hexToBytes(slot), at + ACCOUNT_KEY_BYTES)
        keys[at + PREFETCH_KEY_BYTES - 1] = 1
      }
      at += PREFETCH_KEY_BYTES
      if (at < size) return
      this.#trie.prefetch(keys.buffer)
      keys = new Uint8Array(size)
      at = 0
    }
    return {
      ...view,
      account: address => {
        const account = view.account(address)
        add(address)
        return account
      },
      storage: (address, slot) => {
        const word = view.storage(address, slot)
        add(address, slot)
        return word
      },
    }
  }

  /** Computes the state root after `changes` of a journal on the head. Nothing is stored. */
  async computeUpdate(changes: StateChanges, parentRoot: Hex): Promise<StateUpdate> {
    assert(parentRoot === this.root, 'an update is computed on the head')
    return this.#compute(changes, parentRoot, this.#head)
  }

  async #compute(changes: StateChanges, parentRoot: Hex, state: StateReader): Promise<StateUpdate> {
    if (isEmptyChanges(changes))
      return stateUpdateFromChanges(changes, state, parentRoot, { root: parentRoot, storageRoots: NONE }, [])
    this.#isTrieAhead = true
    const [result, dropped] = await Promise.all([
      this.#trie.apply(parentRoot, packChanges(changes)),
      droppedSlots(this.#store, changes),
    ])
    return stateUpdateFromChanges(changes, state, parentRoot, result, dropped)
  }

  /** Adds the state rows of blocks from `first` on, and the removal of history that is too old, to the batch. Genesis is block 0. */
  async write(batch: Batch, first: number, ...updates: readonly StateUpdate[]): Promise<void> {
    assert(first === this.number + 1, 'blocks are written in order')
    let { root } = this
    for (const [index, update] of updates.entries()) {
      assert(update.parentRoot === root, 'a block on the head is written')
      root = update.root
      writeStateUpdate(batch, update, { number: first + index, hashed: address => this.#head.hashed(address) })
      if (this.#keepsPreimages) putPreimagesOf(batch, update)
    }
    const number = this.number + updates.length
    const oldest = this.#oldestAfter(number)
    if (oldest > this.oldest) await pruneHistory(this.#store, batch, this.oldest + 1, oldest)
    putStateMeta(batch, { number, root, oldest })
  }

  /** Called when the batch of `write` is durable: the head has moved when this call returns; the promise waits for the trie. */
  async committed(first: number, ...updates: readonly StateUpdate[]): Promise<void> {
    const number = first + updates.length - 1
    const advanced = this.#head.advance(updates)
    this.#meta = { number, root: updates.at(-1)?.root ?? this.root, oldest: this.#oldestAfter(number) }
    await Promise.all([advanced, this.#commitTrie(number, updates)])
  }

  /** Computes the root with other values in place of the head's, for development chains (`chain/dev`). Nothing is stored. */
  rootOfValues(values: StoredValues): Promise<RootedValues> {
    return rootOfValues(this.#trie, this.root, values)
  }

  /** Adds the values and the state's new position (the head or before) to the batch. The caller handles histories. */
  writeValues(batch: Batch, number: number, { root, parentRoot, values }: RootedValues): void {
    assert(number <= this.number && parentRoot === this.root, 'values take the place of the head')
    putValues(batch, values)
    putStateMeta(batch, { number, root, oldest: Math.min(this.oldest, number) })
  }

  /** Called when the batch of `writeValues` is durable: the head has moved when this call returns; the promise waits for the trie. */
  async replaced(number: number, { root }: RootedValues): Promise<void> {
    const reset = this.#head.reset()
    this.#meta = { number, root, oldest: Math.min(this.oldest, number) }
    this.#trieNumber = number
    await Promise.all([reset, this.#trie.commit(root, number)])
    // Rows of a state that is gone would be built anew.
    await this.#trie.flush()
  }

  /** Keeps the states after this block and later ones readable, however short history is set; undefined ends it. */
  pin(number: number | undefined): void {
    this.#pinned = number ?? Number.MAX_SAFE_INTEGER
  }

  /** Returns a Merkle proof after a block; rollbacks take megabytes, one at a time. Throws MISSING_STATE, PROOF_TOO_DEEP, TRIE_BUSY. */
  prove(number: number, address: Hex, slots: readonly Hex[]): Promise<StateProof> {
    return this.#inTurn(number, () => proveAt(this.#store, this.#trie, { number, address, slots }))
  }

  /** Returns the state roots of blocks that are never committed, one per batch, on the state after a block. Throws as `prove`. */
  preview(number: number, batches: readonly PackedBatch[]): Promise<readonly Hex[]> {
    return this.#inTurn(number, () => previewRoots(this.#store, this.#trie, number, batches))
  }

  #inTurn<T>(number: number, work: () => Promise<T>): Promise<T> {
    return number === this.number ? work() : this.#oldProofs.run(work)
  }

  /** Closes the trie; the caller closes the store. */
  async close(): Promise<void> {
    await this.#head.close()
    await this.#trie.close()
  }

  /** Another candidate of the same height may have been computed since, or be under way: the trie is then at that one. */
  async #commitTrie(number: number, updates: readonly StateUpdate[]): Promise<void> {
    const { root } = this
    // No changes were ever applied on the head; the trie hears of some such blocks, so that its rows do not stay behind the history.
    if (root === updates[0]?.parentRoot && !this.#isTrieAhead && number < this.#trieNumber + this.#flushBlocks) return
    this.#isTrieAhead = false
    this.#trieNumber = number
    try {
      await this.#trie.commit(root, number)
    } catch (error) {
      if (!isCoded(error) || error.code !== 'TRIE_UNKNOWN_ROOT') throw error
      const applied = updates.map(update => this.#trie.apply(update.parentRoot, packChanges(update)))
      await Promise.all([...applied, this.#trie.commit(root, number)])
    }
  }

  /** Bounds the history that a block prunes, also when the history length was reduced. */
  #oldestAfter(number: number): number {
    const wanted = Math.max(0, Math.min(number - this.#stateHistory, this.#pinned))
    const pruned = STATE_LIMITS.pruneBlocksPerBlock * (number - this.number)
    return Math.max(this.oldest, Math.min(wanted, this.oldest + pruned))
  }
}

interface AheadOptions {
  /** State root of the head. */
  readonly root: Hex
  /** Number of blocks. */
  readonly most: number
  readonly compute: (changes: StateChanges, parentRoot: Hex, state: StateReader) => Promise<StateUpdate>
}

/** State after blocks that follow each other on the head and are not written yet, as `WorldState` for the first. */
class StateAhead implements BlockBase {
  readonly #options: AheadOptions
  readonly #accounts = new Map<Hex, AccountChange>()
  readonly #storage = new Map<Hex, Map<Hex, SlotChange>>()
  readonly #state: StateReader
  #blocks = 0
  root: Hex

  constructor(head: StateReader, options: AheadOptions) {
    this.#options = options
    this.#state = overlayReader(head, { accounts: this.#accounts, storage: this.#storage, code: new Map() })
    this.root = options.root
  }

  journal(): Journal {
    return new Journal(this.#state)
  }

  computeUpdate(changes: StateChanges, parentRoot: Hex): Promise<StateUpdate> {
    return this.#options.compute(changes, parentRoot, this.#state)
  }

  /** Moves to a block, if the next one can follow it: not after new code, or too many blocks. */
  add({ root, accounts, storage, code, cleared }: StateUpdate): boolean {
    if (code.size + cleared.size > 0 || ++this.#blocks === this.#options.most) return false
    for (const [address, change] of accounts) this.#accounts.set(address, change)
    for (const [address, changed] of storage) {
      const slots = this.#storage.get(address) ?? new Map<Hex, SlotChange>()
      this.#storage.set(address, slots)
      for (const [slot, change] of changed) slots.set(slot, change)
    }
    this.root = root
    return true
  }
}

/** A start applies the blocks after the trie's last rows or those before them again, for which it needs their history. */
const flushBlocksOf = (stateHistory: number | 'archive' = STATE_LIMITS.historyBlocks): number =>
  stateHistory === 'archive'
    ? TRIE_LIMITS.flushBlocks
    : Math.max(1, Math.min(TRIE_LIMITS.flushBlocks, stateHistory >> 2))

const NONE: ReadonlyMap<Hex, Hex> = new Map()

const stateError = (detail: StateError) => new CodedError(detail)
