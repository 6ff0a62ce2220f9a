import { bytesToHex, type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import type { Snapshot, Store } from '../../storage/store.ts'
import { hashedKey } from '../flat-tables.ts'
import type { StateUpdate } from '../update/state-update.ts'

/*
 * Preimages: addresses and slots by their keccak256, by which the state tables name them. Development chains keep them, so that a dump of
 * their state can name accounts and slots as other clients do. Rows are never deleted: what was a preimage once always is.
 */

/** Adds the preimage of an address or slot to the batch; `key` is its keccak256 where that is known. */
export const putPreimage = (batch: Batch, name: Hex, key: Uint8Array = hashedKey(name)): void => {
  batch.put(BUCKETS.preimage, key, hexToBytes(name))
}

/** Adds the preimages of the accounts and slots that a block creates to the batch. */
export const putPreimagesOf = (batch: Batch, { accounts, storage }: StateUpdate): void => {
  for (const [address, { before, after }] of accounts)
    if (before === undefined && after !== undefined) putPreimage(batch, address)
  for (const slots of storage.values())
    for (const [slot, { before, after }] of slots)
      if (before === ZERO_HASH && after !== ZERO_HASH) putPreimage(batch, slot)
}

/** Returns the address or slot of a keccak256; the keccak256 itself when its preimage was not kept. */
export const readPreimage = (store: Store, key: Uint8Array, snapshot?: Snapshot): Hex =>
  bytesToHex(store.getSync(BUCKETS.preimage, key, snapshot) ?? key)
