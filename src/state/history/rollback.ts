import { setImmediate } from 'node:timers/promises'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import type { Snapshot, Store } from '../../storage/store.ts'
import { decodeAccount } from '../account.ts'
import { BatchPacker, type PackedBatch } from '../batch.ts'
import { ACCOUNT_KEY_BYTES, binaryKey, bytesFromBinaryKey } from '../flat-tables.ts'
import { changedKeys, type HistoryKind, valuesBefore } from './history-rows.ts'

/** Stored values of an older block, by hashed key (binary text), of all keys changed since. Empty means absent. */
export type Rollback = Readonly<Record<HistoryKind, ReadonlyMap<string, Uint8Array>>>

const textHex = (text: string): Hex => bytesToHex(bytesFromBinaryKey(text))

/** Collects the values that lead from block `to` back to block `number`; undefined when more than `limit` entries changed. */
export const collectRollback = async (
  store: Store,
  number: number,
  to: number,
  limit: number,
  snapshot?: Snapshot,
): Promise<Rollback | undefined> => {
  const values = { account: new Map<string, Uint8Array>(), slot: new Map<string, Uint8Array>() }
  for await (const changed of changedKeys(store, number + 1, to, snapshot)) {
    const known = values[changed.kind]
    // Blocks are ascending: the first change after `number` holds the value at it.
    const unseen = changed.keys.filter(key => !known.has(binaryKey(key)))
    if (values.account.size + values.slot.size + unseen.length > limit) return undefined
    const before = await valuesBefore(store, changed.kind, unseen, changed.number, snapshot)
    for (const [i, key] of unseen.entries()) known.set(binaryKey(key), before[i] as Uint8Array)
  }
  return values
}

/** Entries packed before yielding to other work: about a millisecond. */
const SLICE_ENTRIES = 1_024

/** Packs a rollback for the trie, in time slices. Each slot's account is in it, since its storage root changed. */
export const packRollback = async (rollback: Rollback): Promise<PackedBatch> => {
  const slotsOf = new Map<string, [slot: Hex, value: Uint8Array][]>()
  let entries = 0
  for (const [text, value] of rollback.slot) {
    const account = text.slice(0, ACCOUNT_KEY_BYTES)
    const slots = slotsOf.get(account) ?? []
    slots.push([textHex(text.slice(ACCOUNT_KEY_BYTES)), value])
    slotsOf.set(account, slots)
    if (++entries % SLICE_ENTRIES === 0) await setImmediate()
  }
  const packer = new BatchPacker({ hashed: true })
  for (const [text, value] of rollback.account) {
    packer.account(textHex(text), value.byteLength === 0 ? undefined : decodeAccount(value))
    for (const [slot, word] of slotsOf.get(text) ?? []) packer.slot(slot, word)
    if (++entries % SLICE_ENTRIES === 0) await setImmediate()
  }
  return packer.finish()
}
