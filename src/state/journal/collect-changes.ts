import { type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { Account } from '../account.ts'
import type { StateChanges } from '../update/state-update.ts'
import type { JournalAccount } from './journal-account.ts'

/** Computes the difference between a journal's entries and their base, without changes that were undone. */
export const collectChanges = (
  entries: Iterable<JournalAccount>,
  codes: ReadonlyMap<Hex, Uint8Array>,
): StateChanges => {
  const accounts = new Map<Hex, { before: Account | undefined; after: Account | undefined }>()
  const storage = new Map<Hex, Map<Hex, { before: Hex; after: Hex }>>()
  const code = new Map<Hex, Uint8Array>()
  const cleared = new Set<Hex>()
  for (const journalAccount of entries) {
    const dropped = journalAccount.droppedStorage()
    if (dropped) cleared.add(journalAccount.address)
    if (dropped || !journalAccount.sameFieldsAsBase()) {
      accounts.set(journalAccount.address, { before: journalAccount.base, after: journalAccount.toAccount() })
      const added =
        journalAccount.codeHash === journalAccount.base?.codeHash ? undefined : codes.get(journalAccount.codeHash)
      if (added !== undefined) code.set(journalAccount.codeHash, added)
    }
    const slots = slotChanges(journalAccount, dropped)
    if (slots !== undefined) storage.set(journalAccount.address, slots)
  }
  return { accounts, storage, code, cleared }
}

/** When the earlier storage is gone, a word equal to the old one was written anew and counts as a change. */
const slotChanges = (journalAccount: JournalAccount, dropped: boolean) => {
  if (journalAccount.slots === undefined) return undefined
  let changed: Map<Hex, { before: Hex; after: Hex }> | undefined
  for (const [key, journalSlot] of journalAccount.slots) {
    if (journalSlot.base === journalSlot.value && (!dropped || journalSlot.value === ZERO_HASH)) continue
    changed ??= new Map()
    changed.set(key, { before: journalSlot.base, after: journalSlot.value })
  }
  return changed
}
