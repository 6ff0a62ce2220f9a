import { EMPTY_BYTES, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { Account } from './account.ts'
import type { AsyncStateReader, StateReader } from './state-reader.ts'
import type { StateChanges } from './update/state-update.ts'

/** Value of one item in the changes; undefined: read the state under them. */
const overlaidAccount = (
  { accounts }: StateChanges,
  address: Hex,
): { readonly account: Account | undefined } | undefined => {
  const change = accounts.get(address)
  return change === undefined ? undefined : { account: change.after }
}

const overlaidSlot = ({ storage, cleared }: StateChanges, address: Hex, slot: Hex): Hex | undefined =>
  storage.get(address)?.get(slot)?.after ?? (cleared?.has(address) ? ZERO_HASH : undefined)

const overlaidCode = ({ accounts, code }: StateChanges, address: Hex): Uint8Array | undefined => {
  const change = accounts.get(address)
  if (change === undefined) return undefined
  return change.after === undefined ? EMPTY_BYTES : code.get(change.after.codeHash)
}

/** State after an uncommitted block: its changes over the state before it. */
export const overlayReader = (inner: StateReader, changes: StateChanges): StateReader => ({
  account(address) {
    const found = overlaidAccount(changes, address)
    return found === undefined ? inner.account(address) : found.account
  },
  storage: (address, slot) => overlaidSlot(changes, address, slot) ?? inner.storage(address, slot),
  code: address => overlaidCode(changes, address) ?? inner.code(address),
})

/** Like `overlayReader`, over an asynchronous state. */
export const asyncOverlayReader = (inner: AsyncStateReader, changes: StateChanges): AsyncStateReader => ({
  async account(address) {
    const found = overlaidAccount(changes, address)
    return found === undefined ? inner.account(address) : found.account
  },
  storage: async (address, slot) => overlaidSlot(changes, address, slot) ?? inner.storage(address, slot),
  code: async address => overlaidCode(changes, address) ?? inner.code(address),
  release: () => inner.release(),
})
