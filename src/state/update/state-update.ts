import { EMPTY_BYTES, type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { type Account, encodeAccount } from '../account.ts'
import { encodeWord, slotKey } from '../flat-tables.ts'
import { HistoryWriter } from '../history/history-rows.ts'

interface WriteStateUpdateOptions {
  /** Block of this state. */
  readonly number: number
  readonly hashed: (address: Hex) => Uint8Array
}

/** Adds the rows of a block's state update to the batch: flat tables, code, reverse diff. */
export const writeStateUpdate = (batch: Batch, update: StateUpdate, options: WriteStateUpdateOptions): void => {
  // States before genesis are never read.
  const history = options.number > 0 ? new HistoryWriter(batch, options.number) : undefined
  for (const [address, { before, after }] of update.accounts) {
    const key = options.hashed(address)
    if (after === undefined) batch.del(BUCKETS.account, key)
    else batch.put(BUCKETS.account, key, encodeAccount(after))
    history?.add('account', key, before === undefined ? EMPTY_BYTES : encodeAccount(before))
  }
  for (const [address, slots] of update.storage) {
    const hashed = options.hashed(address)
    for (const [slot, { before, after }] of slots) {
      const key = slotKey(hashed, slot)
      if (after === ZERO_HASH) batch.del(BUCKETS.slot, key)
      else batch.put(BUCKETS.slot, key, encodeWord(after))
      history?.add('slot', key, encodeWord(before))
    }
  }
  for (const { key, before } of update.dropped) {
    batch.del(BUCKETS.slot, key)
    history?.add('slot', key, before)
  }
  for (const [hash, code] of update.code) batch.put(BUCKETS.code, hexToBytes(hash), code)
  history?.finish()
}

/** Changes of one block, old and new values, as collected from the journal. Only real changes are included (old differs from new). */
export interface StateChanges {
  /** Account fields; storageRoot of `after` is filled in with the root. undefined: does not exist. */
  readonly accounts: ReadonlyMap<Hex, AccountChange>
  /** address -> slot -> words. */
  readonly storage: ReadonlyMap<Hex, ReadonlyMap<Hex, SlotChange>>
  /** Accounts whose earlier storage is gone: slots not in `storage` are zero, and `storage` holds all that are set. */
  readonly cleared?: ReadonlySet<Hex>
  /** Code stored for the first time, by hash. */
  readonly code: ReadonlyMap<Hex, Uint8Array>
}

export interface AccountChange {
  readonly before: Account | undefined
  readonly after: Account | undefined
}
export interface SlotChange {
  readonly before: Hex
  readonly after: Hex
}
/** Slot deleted with its account; only its hashed key is known. */
export interface DroppedSlot {
  readonly key: Uint8Array
  readonly before: Uint8Array
}

/** State changes of a block with their root: written when the block commits. */
export interface StateUpdate extends Required<StateChanges> {
  readonly parentRoot: Hex
  readonly root: Hex
  readonly dropped: readonly DroppedSlot[]
}
