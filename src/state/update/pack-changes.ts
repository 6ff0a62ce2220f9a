import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import type { Store } from '../../storage/store.ts'
import type { Account } from '../account.ts'
import { BatchPacker, type PackedBatch } from '../batch.ts'
import { binaryKey, hashedKey, slotKey } from '../flat-tables.ts'
import type { StateReader } from '../state-reader.ts'
import type { AccountChange, DroppedSlot, StateChanges, StateUpdate } from './state-update.ts'

const NOTHING: ReadonlySet<Hex> = new Set()

/** True for the changes of most empty blocks. */
export const isEmptyChanges = ({ accounts, storage, cleared = NOTHING }: StateChanges): boolean =>
  accounts.size + storage.size + cleared.size === 0

/** Packs the changes for the trie; it hashes and sorts in its own thread. */
export const packChanges = (changes: StateChanges): PackedBatch => {
  const packer = new BatchPacker()
  const cleared = changes.cleared ?? NOTHING
  for (const [address, { after }] of changes.accounts) {
    packer.account(address, after, { clearStorage: cleared.has(address) })
    if (after !== undefined) packSlots(packer, changes, address)
  }
  for (const address of changes.storage.keys()) {
    if (changes.accounts.has(address)) continue
    assert(!cleared.has(address), 'an account that lost its storage has other fields changed')
    packer.account(address, 'keep')
    packSlots(packer, changes, address)
  }
  return packer.finish()
}

const packSlots = (packer: BatchPacker, changes: StateChanges, address: Hex): void => {
  const slots = changes.storage.get(address)
  if (slots === undefined) return
  for (const [slot, { after }] of slots) packer.slot(slot, after)
}

/** Joins the changes with the storage roots from the trie. */
export const stateUpdateFromChanges = (
  changes: StateChanges,
  head: StateReader,
  parentRoot: Hex,
  result: { readonly root: Hex; readonly storageRoots: ReadonlyMap<Hex, Hex> },
  dropped: readonly DroppedSlot[],
): StateUpdate => {
  const accounts = new Map<Hex, AccountChange>(changes.accounts)
  for (const [address, storageRoot] of result.storageRoots) {
    const change = accounts.get(address)
    const before = change === undefined ? head.account(address) : change.before
    const after = change === undefined ? before : change.after
    if (after === undefined || (change === undefined && after.storageRoot === storageRoot)) continue
    accounts.set(address, { before, after: withStorageRoot(after, storageRoot) })
  }
  const { storage, code, cleared = NOTHING } = changes
  return { parentRoot, root: result.root, accounts, storage, code, cleared, dropped }
}

const withStorageRoot = (account: Account, storageRoot: Hex): Account =>
  account.storageRoot === storageRoot ? account : { ...account, storageRoot }

/** Returns stored slots of accounts that lost their storage and did not write them anew: only under rules before EIP-6780. */
export const droppedSlots = async (store: Store, changes: StateChanges): Promise<readonly DroppedSlot[]> => {
  const dropped: DroppedSlot[] = []
  for (const address of changes.cleared ?? NOTHING) {
    const hashed = hashedKey(address)
    const rewritten = new Set<string>()
    for (const slot of changes.storage.get(address)?.keys() ?? []) rewritten.add(binaryKey(slotKey(hashed, slot)))
    for await (const [key, before] of store.entries(BUCKETS.slot, { prefix: hashed })) {
      if (!rewritten.has(binaryKey(key))) dropped.push({ key, before })
    }
  }
  return dropped
}
