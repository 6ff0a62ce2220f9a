import { EMPTY_BYTES, type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { encodeAccount } from '../account.ts'
import { slotKey } from '../flat-tables.ts'
import { HistoryWriter } from '../history/history-rows.ts'
import { encodeWord } from '../storage-word.ts'
import type { StateUpdate } from './state-update.ts'

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
