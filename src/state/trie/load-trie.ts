import { asBuffer, bytesToHex, EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import type { Store, StoreEntry } from '../../storage/store.ts'
import { decodeAccount, EMPTY_ROOT } from '../account.ts'
import { BatchPacker } from '../batch.ts'
import { binaryKey, FLAT_BUCKETS } from '../flat-tables.ts'
import { changedKeys } from '../history/history-rows.ts'
import { packRollback } from '../history/rollback.ts'
import { type StateMeta, stateRootAt } from '../state-meta.ts'
import { readTrieBuild, readTrieMark, type TrieMark } from './trie-rows.ts'
import type { TrieService } from './trie-service.ts'

export interface LoadProgress {
  readonly accounts: number
  readonly slots: number
  /** Completed share of the key space, 0 to 1. */
  readonly done: number
}

interface OpenTrieOptions {
  readonly store: Store
  /** Attached to the store, or without rows. */
  readonly trie: TrieService
  /** Position of the flat tables; undefined before genesis. */
  readonly meta: StateMeta | undefined
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined
}

/**
 * Brings the trie to the state of the flat tables, which must not change meanwhile: from its rows and the changes of the blocks after
 * them; when these do not lead there, or without rows, from the whole tables. Returns the root, and how it came about.
 */
export const openTrie = async (options: OpenTrieOptions): Promise<{ root: Hex; from: 'rows' | 'tables' }> => {
  const { store, trie, meta } = options
  if (meta === undefined) {
    await trie.begin(undefined)
    return { root: EMPTY_ROOT, from: 'rows' }
  }
  const mark = await readTrieMark(store)
  if (mark !== undefined && (await catchUp(store, trie, mark, meta))) return { root: trie.root, from: 'rows' }
  const build = await readTrieBuild(store)
  const part = build?.number === meta.number && build.root === meta.root ? build : undefined
  await trie.begin(part && { number: part.number, root: part.partRoot, accounts: part.accounts })
  const root = await loadTrie(options, meta, part?.next)
  if (root === meta.root) {
    await trie.commit(root, meta.number)
    await trie.flush()
  }
  return { root, from: 'tables' }
}

/** Applies what changed after a mark; returns false when the rows are not those of an earlier state of this chain. */
const catchUp = async (store: Store, trie: TrieService, mark: TrieMark, meta: StateMeta): Promise<boolean> => {
  const { number, root } = mark
  if (number > meta.number || number < meta.oldest) return false
  if (root !== (number === meta.number ? meta.root : await stateRootAt(store, number))) return false
  await trie.begin(mark)
  if (number === meta.number) return true
  const changed = { account: new Map<string, Uint8Array>(), slot: new Map<string, Uint8Array>() }
  for await (const { kind, keys } of changedKeys(store, number + 1, meta.number)) {
    const rows = await store.getMany(FLAT_BUCKETS[kind], keys)
    for (const [i, key] of keys.entries()) changed[kind].set(binaryKey(key), rows[i] ?? EMPTY_BYTES)
  }
  if (changed.account.size > 0) await trie.apply(root, await packRollback(changed))
  if (trie.root !== meta.root) return false
  await trie.commit(meta.root, meta.number)
  return true
}

/** Accounts and slots in one message to the trie's thread. */
const SLICE_ENTRIES = 8_192

/**
 * Fills the trie from the flat tables. Keys are hashes in order, so both tables are read once, in parallel, and the next slice is read while
 * the trie processes the last. Returns the root. `from`: first account, when those before are there.
 */
const loadTrie = async (
  { store, trie, onProgress = () => {} }: OpenTrieOptions,
  { number, root }: StateMeta,
  from: Uint8Array = EMPTY_BYTES,
): Promise<Hex> => {
  const packer = new BatchPacker({ hashed: true })
  let underWay: Promise<unknown> = Promise.resolve()
  const counts = { accounts: 0, slots: 0, done: 0 }
  // The account of the last slice may have more slots: it is begun again.
  const flush = async (next: Uint8Array) => {
    await underWay
    underWay = trie.load(packer.finish(), { number, building: { root, next: Uint8Array.from(next) } })
    // Awaited at the next flush; a rejection in between must not count as unhandled.
    underWay.catch(() => {})
    onProgress({ ...counts })
  }
  const slots = store.entries(BUCKETS.slot, { gte: from })
  let last: Uint8Array = from
  try {
    let next = await slots.next()
    for await (const [key, row] of store.entries(BUCKETS.account, { gte: from })) {
      const account = decodeAccount(row)
      const hashed = bytesToHex(key)
      last = key
      packer.account(hashed, account)
      counts.accounts++
      counts.done = (key[0] ?? 0) / 256
      while (account.storageRoot !== EMPTY_ROOT && !next.done && isSlotOf(next.value, key)) {
        packer.slot(bytesToHex(next.value[0].subarray(32)), next.value[1])
        counts.slots++
        next = await slots.next()
        if (packer.entries < SLICE_ENTRIES) continue
        await flush(key)
        packer.account(hashed, 'keep')
      }
      if (packer.entries >= SLICE_ENTRIES) await flush(key)
    }
  } finally {
    await slots.return(undefined)
  }
  await flush(last)
  await underWay
  return trie.root
}

const isSlotOf = ([key]: StoreEntry, account: Uint8Array): boolean => asBuffer(key.subarray(0, 32)).equals(account)
