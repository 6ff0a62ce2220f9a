import { asBuffer, bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import type { Store, StoreEntry } from '../../storage/store.ts'
import { decodeAccount, EMPTY_ROOT } from '../account.ts'
import { BatchPacker } from './batch.ts'
import type { TrieService } from './trie-service.ts'

export interface LoadProgress {
  readonly accounts: number
  readonly slots: number
  /** Completed share of the key space, 0 to 1. */
  readonly done: number
}

/** Accounts and slots in one message to the trie's thread. */
const SLICE_ENTRIES = 8_192

/**
 * Fills the trie from the flat tables, which must not change meanwhile. Keys are hashes in order, so both tables are
 * read once, in parallel, and the next slice is read while the trie processes the last. Returns the root.
 */
export const loadTrie = async (
  store: Store,
  trie: TrieService,
  onProgress: (progress: LoadProgress) => void = () => {},
): Promise<Hex> => {
  const packer = new BatchPacker({ hashed: true })
  let underWay: Promise<unknown> = Promise.resolve()
  const counts = { accounts: 0, slots: 0, done: 0 }
  const flush = async () => {
    await underWay
    underWay = trie.load(packer.finish())
    // Awaited at the next flush; a rejection in between must not count as unhandled.
    underWay.catch(() => {})
    onProgress({ ...counts })
  }
  const slots = store.entries(BUCKETS.slot)
  try {
    let next = await slots.next()
    for await (const [key, row] of store.entries(BUCKETS.account)) {
      const account = decodeAccount(row)
      const hashed = bytesToHex(key)
      packer.account(hashed, account)
      counts.accounts++
      counts.done = (key[0] ?? 0) / 256
      while (account.storageRoot !== EMPTY_ROOT && !next.done && isSlotOf(next.value, key)) {
        packer.slot(bytesToHex(next.value[0].subarray(32)), next.value[1])
        counts.slots++
        next = await slots.next()
        if (packer.entries < SLICE_ENTRIES) continue
        await flush()
        packer.account(hashed, 'keep')
      }
      if (packer.entries >= SLICE_ENTRIES) await flush()
    }
  } finally {
    await slots.return(undefined)
  }
  await flush()
  await underWay
  return trie.root
}

const isSlotOf = ([key]: StoreEntry, account: Uint8Array): boolean => asBuffer(key.subarray(0, 32)).equals(account)
