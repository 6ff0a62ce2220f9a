import { EMPTY_BYTES, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { StateReader } from './state-reader.ts'
import type { StateChanges } from './update/state-update.ts'

/** State after an uncommitted block: its changes over the state before it. */
export const overlayReader = (inner: StateReader, { accounts, storage, cleared, code }: StateChanges): StateReader => ({
  account(address) {
    const change = accounts.get(address)
    return change === undefined ? inner.account(address) : change.after
  },
  storage: (address, slot) =>
    storage.get(address)?.get(slot)?.after ?? (cleared?.has(address) ? ZERO_HASH : inner.storage(address, slot)),
  code(address) {
    const change = accounts.get(address)
    if (change === undefined) return inner.code(address)
    return change.after === undefined ? EMPTY_BYTES : (code.get(change.after.codeHash) ?? inner.code(address))
  },
})
