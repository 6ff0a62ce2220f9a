import { type Hex, ZERO_HASH } from '../../util/bytes.ts'
import type { Account } from '../account.ts'
import type { StateChanges } from '../update/state-changes.ts'
import type { Entry } from './journal-account.ts'

/** The difference between a journal's entries and their base, free of what went to and fro. */
export const collectChanges = (entries: Iterable<Entry>, codes: ReadonlyMap<Hex, Uint8Array>): StateChanges => {
  const accounts = new Map<Hex, { before: Account | undefined; after: Account | undefined }>()
  const storage = new Map<Hex, Map<Hex, { before: Hex; after: Hex }>>()
  const code = new Map<Hex, Uint8Array>()
  const cleared = new Set<Hex>()
  for (const entry of entries) {
    const dropped = entry.droppedStorage()
    if (dropped) cleared.add(entry.address)
    if (dropped || !entry.sameFieldsAsBase()) {
      accounts.set(entry.address, { before: entry.base, after: entry.toAccount() })
      const added = entry.codeHash === entry.base?.codeHash ? undefined : codes.get(entry.codeHash)
      if (added !== undefined) code.set(entry.codeHash, added)
    }
    const slots = slotChanges(entry, dropped)
    if (slots !== undefined) storage.set(entry.address, slots)
  }
  return { accounts, storage, code, cleared }
}

/** Where the earlier storage is gone, a word equal to the old one was written anew and stands here too. */
const slotChanges = (entry: Entry, dropped: boolean) => {
  if (entry.slots === undefined) return undefined
  let changed: Map<Hex, { before: Hex; after: Hex }> | undefined
  for (const [key, slot] of entry.slots) {
    if (slot.base === slot.value && (!dropped || slot.value === ZERO_HASH)) continue
    changed ??= new Map()
    changed.set(key, { before: slot.base, after: slot.value })
  }
  return changed
}
