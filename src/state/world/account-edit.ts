import { bytesToHex, concatBytes, EMPTY_BYTES, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import { keccak256 } from '../../crypto/hash.ts'
import { encodeRlp } from '../../primitives/rlp/rlp.ts'
import { RlpCursor } from '../../primitives/rlp/rlp-cursor.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { keyWithNumber, NUMBER_BYTES, numberKey, writeNumber } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'
import { type Account, decodeAccount, EMPTY_CODE_HASH, EMPTY_ROOT, encodeAccount } from '../account.ts'
import { binaryKey, bytesFromBinaryKey, encodeWord, FLAT_BUCKETS } from '../flat-tables.ts'
import { HISTORY_BUCKETS, type HistoryKind, HistoryWriter, nextHistoryPart } from '../history/history-rows.ts'
import type { StoredValues } from './replace-values.ts'

/** New fields of one account; omitted ones are kept. */
export interface AccountEdit {
  /** keccak256 of the address. */
  readonly key: Uint8Array
  readonly nonce?: Nonce
  /** Wei. */
  readonly balance?: bigint
  readonly code?: Uint8Array
  /** keccak256 of the slot, and its word. */
  readonly storage?: readonly (readonly [slot: Uint8Array, word: Hex])[]
  /** Address and slots, where they are known. */
  readonly preimages?: readonly Hex[]
}

/** Stored values of edits: rows, and code by hash. */
interface EditedValues {
  readonly values: StoredValues
  readonly code: ReadonlyMap<Hex, Uint8Array>
}

const NO_ACCOUNT: Account = { nonce: 0, balance: 0n, codeHash: EMPTY_CODE_HASH, storageRoot: EMPTY_ROOT }

/** Computes the rows that the edits make from those at the head; a later edit of an account builds on an earlier one. */
export const valuesFromEdits = async (store: Store, edits: readonly AccountEdit[]): Promise<EditedValues> => {
  const account = new Map<string, Uint8Array>()
  const slot = new Map<string, Uint8Array>()
  const code = new Map<Hex, Uint8Array>()
  for (const edit of edits) {
    const text = binaryKey(edit.key)
    const row = account.get(text) ?? (await store.get(BUCKETS.account, edit.key))
    const before = row === undefined || row.byteLength === 0 ? NO_ACCOUNT : decodeAccount(row)
    const codeHash = edit.code === undefined ? before.codeHash : codeHashOf(edit.code)
    const after = { ...before, codeHash, nonce: edit.nonce ?? before.nonce, balance: edit.balance ?? before.balance }
    for (const [hashedSlot, word] of edit.storage ?? [])
      slot.set(binaryKey(concatBytes(edit.key, hashedSlot)), encodeWord(word))
    if (edit.code !== undefined && codeHash !== EMPTY_CODE_HASH) code.set(codeHash, edit.code)
    const holdsSlots = before.storageRoot !== EMPTY_ROOT || (edit.storage?.length ?? 0) > 0
    account.set(text, isEmpty(after) && !holdsSlots ? EMPTY_BYTES : encodeAccount(after))
  }
  return { values: { account, slot }, code }
}

const codeHashOf = (code: Uint8Array): Hex => (code.byteLength === 0 ? EMPTY_CODE_HASH : bytesToHex(keccak256(code)))

const isEmpty = ({ nonce, balance, codeHash }: Account): boolean =>
  nonce === 0 && balance === 0n && codeHash === EMPTY_CODE_HASH

/** Rows read at once. */
const CHUNK = 1_000
const KINDS: readonly HistoryKind[] = ['account', 'slot']

/**
 * Adds the reverse diff of an edit of the state after block `number` to the batch. Keys that the block itself did not change are added
 * to its reverse diff, so that the state before it stays readable. Returns the replaced values.
 */
export const putEditHistory = async (
  store: Store,
  batch: Batch,
  number: number,
  { account, slot }: StoredValues,
): Promise<StoredValues> => {
  const history = new HistoryWriter(batch, number, await nextHistoryPart(store, number))
  const before = { account: new Map<string, Uint8Array>(), slot: new Map<string, Uint8Array>() }
  for (const kind of KINDS) {
    const texts = [...(kind === 'account' ? account : slot).keys()]
    for (let at = 0; at < texts.length; at += CHUNK) {
      const part = texts.slice(at, at + CHUNK)
      const keys = part.map(bytesFromBinaryKey)
      const rows = await store.getMany(FLAT_BUCKETS[kind], keys)
      const known = await store.getMany(
        HISTORY_BUCKETS[kind],
        keys.map(key => keyWithNumber(key, number)),
      )
      for (const [i, key] of keys.entries()) {
        const row = rows[i] ?? EMPTY_BYTES
        before[kind].set(part[i] as string, row)
        // States before genesis are never read.
        if (known[i] === undefined && number > 0) history.add(kind, key, row)
      }
    }
  }
  history.finish()
  return before
}

const undoKey = (number: number, index: number): Uint8Array =>
  writeNumber(writeNumber(new Uint8Array(2 * NUMBER_BYTES), 0, number), NUMBER_BYTES, index)

/** Adds the values that undo the edit of this index (from 0) at the state after a block to the batch. */
export const putEditUndo = (batch: Batch, number: number, index: number, before: StoredValues): void => {
  const rows = (values: ReadonlyMap<string, Uint8Array>) =>
    [...values].map(([text, value]) => [bytesFromBinaryKey(text), value])
  batch.put(BUCKETS.editUndo, undoKey(number, index), encodeRlp([rows(before.account), rows(before.slot)]))
}

/** Applies undo values of edits from index `kept` on to `values`, and adds removals of their rows to the batch; returns their number. */
export const undoEdits = (
  store: Store,
  batch: Batch,
  number: number,
  kept: number,
  values: { readonly account: Map<string, Uint8Array>; readonly slot: Map<string, Uint8Array> },
): number => {
  const rows = undoRows(store, number, kept)
  // The oldest value is applied last.
  for (const { key, row } of rows.reverse()) {
    const cursor = new RlpCursor(row)
    const outer = cursor.openList()
    for (const kind of KINDS) {
      const list = cursor.openList()
      while (cursor.hasMore()) {
        const pair = cursor.openList()
        const text = binaryKey(cursor.bytes())
        values[kind].set(text, new Uint8Array(cursor.bytes()))
        cursor.closeList(pair)
      }
      cursor.closeList(list)
    }
    cursor.closeList(outer)
    batch.del(BUCKETS.editUndo, key)
  }
  return rows.length
}

/** Returns the rows of the edits at the state after a block from an index on; edits are numbered without gaps. */
const undoRows = (store: Store, number: number, from: number) => {
  const rows: { readonly key: Uint8Array; readonly row: Uint8Array }[] = []
  for (let index = from; ; index++) {
    const key = undoKey(number, index)
    const row = store.getSync(BUCKETS.editUndo, key)
    if (row === undefined) return rows
    rows.push({ key, row })
  }
}

/** Adds the removal of the undo rows at the state after a block to the batch. */
export const removeUndo = (store: Store, batch: Batch, number: number): void => {
  for (const { key } of undoRows(store, number, 0)) batch.del(BUCKETS.editUndo, key)
}

/** Adds the root of the edited state after a block to the batch; the header's own root needs no row. */
export const putEditedRoot = (batch: Batch, number: number, root: Hex, headerRoot: Hex): void => {
  if (root === headerRoot) batch.del(BUCKETS.editedRoot, numberKey(number))
  else batch.put(BUCKETS.editedRoot, numberKey(number), hexToBytes(root))
}
