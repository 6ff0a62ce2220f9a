/*
 * The packed batch, as batch.ts of the wrapper lays it out, and the undo batch, which has the same layout.
 *   header   16: accounts u32, slots u32, hashed u8, padding
 *   account 120: key 32 | code hash 32 | balance 32 big-endian | nonce u64 | slots u32 | kind u8 | padding 3 | scratch 8
 *   slot     64: key 32 | value 32 big-endian
 */
import { allocate, reserve } from "./memory";
import { EMPTY_CODE } from "./encode";
import {
  LEAF_CHANGED, LEAF_FIELDS, LEAF_STORAGE, codeHashAt, compareKeys, copyWord, leafSize, significant, storageRootAt,
} from "./nodes";

export const HEADER: usize = 16;
export const ACCOUNT: usize = 120;
export const SLOT_RECORD: usize = 64;

export const KIND_DELETE: u32 = 0;
export const KIND_PUT: u32 = 1;
/** Put, after dropping all earlier storage of the account. */
export const KIND_PUT_CLEARED: u32 = 2;
/** The fields of the account stay unchanged: only its storage changes. */
export const KIND_KEEP: u32 = 3;

@inline export function balanceOf(record: usize): usize { return record + 64; }
@inline export function slotsOf(record: usize): u32 { return load<u32>(record, 104); }
@inline export function kindOfRecord(record: usize): u32 { return load<u8>(record, 108); }
/** Scratch: the account's leaf before the batch, and the address of the sorted pointers to its slots. */
@inline export function oldLeafOf(record: usize): usize { return <usize>load<u32>(record, 112); }
@inline export function setOldLeaf(record: usize, leaf: usize): void { store<u32>(record, <u32>leaf, 112); }
@inline export function slotPointersOf(record: usize): usize { return <usize>load<u32>(record, 116); }
@inline export function setSlotPointers(record: usize, at: usize): void { store<u32>(record, <u32>at, 116); }

// --- leaves of the account trie from and to records

const NONCE: usize = memory.data(8, 8);

/** Returns a leaf with a record's fields and the storage trie of a slot, whose root hash is at `root`. */
export function newAccountLeaf(record: usize, storage: usize, root: usize): usize {
  store<u64>(NONCE, bswap<u64>(load<u64>(record, 96)));
  const nonceSize = significant(NONCE, 8);
  const balanceSize = significant(balanceOf(record), 32);
  const hasCode = <u32>(compareKeys(record + 32, EMPTY_CODE) != 0);
  const trie = load<u32>(storage);
  const leaf = allocate(LEAF_FIELDS + nonceSize + balanceSize + 32 * (hasCode + <u32>(trie != 0)));
  copyWord(leaf, record);
  store<u32>(leaf, trie, LEAF_STORAGE);
  store<u8>(leaf, <u8>nonceSize, 36);
  store<u8>(leaf, <u8>balanceSize, 37);
  store<u8>(leaf, <u8>hasCode, 38);
  store<u8>(leaf, 0, LEAF_CHANGED);
  memory.copy(leaf + LEAF_FIELDS, NONCE + 8 - nonceSize, nonceSize);
  memory.copy(leaf + LEAF_FIELDS + nonceSize, balanceOf(record) + 32 - balanceSize, balanceSize);
  if (hasCode) copyWord(codeHashAt(leaf), record + 32);
  if (trie) copyWord(storageRootAt(leaf), root);
  return leaf;
}

/** Copies nonce, balance and code hash of a leaf into a record. */
export function readFields(leaf: usize, record: usize): void {
  const nonceSize = <usize>load<u8>(leaf, 36);
  const balanceSize = <usize>load<u8>(leaf, 37);
  store<u64>(NONCE, 0);
  memory.copy(NONCE + 8 - nonceSize, leaf + LEAF_FIELDS, nonceSize);
  store<u64>(record, bswap<u64>(load<u64>(NONCE)), 96);
  memory.fill(balanceOf(record), 0, 32 - balanceSize);
  memory.copy(balanceOf(record) + 32 - balanceSize, leaf + LEAF_FIELDS + nonceSize, balanceSize);
  copyWord(record + 32, load<u8>(leaf, 38) ? codeHashAt(leaf) : EMPTY_CODE);
}

export function sameLeaf(a: usize, b: usize): bool {
  const size = leafSize(a);
  return leafSize(b) == size && memory.compare(a, b, size) == 0;
}

/** Copies the value of a storage leaf as a 32-byte word. */
export function readValue(leaf: usize, out: usize): void {
  const size = <usize>load<u8>(leaf, 32);
  memory.fill(out, 0, 32 - size);
  memory.copy(out + 32 - size, leaf + 33, size);
}

// --- the undo batch

const UNDO: usize = memory.data(8, 8);
let undoBase: usize = 0;
let undoEnd: usize = 0;
let undoAccount: usize = 0;
let recording: bool = false;

export function undoAt(): usize { return undoBase; }
export function undoSize(): usize { return undoEnd; }

export function beginUndo(record: bool): void {
  recording = record;
  undoBase = reserve(UNDO, 65536, 0);
  undoEnd = HEADER;
  memory.fill(undoBase, 0, HEADER);
  store<u8>(undoBase, 1, 8);
}

function extendUndo(size: usize): usize {
  undoBase = reserve(UNDO, undoEnd + size, undoEnd);
  const at = undoBase + undoEnd;
  undoEnd += size;
  return at;
}

/** Starts the record that restores an account: to its old leaf's fields, or to its absence. */
export function undoForAccount(key: usize, oldLeaf: usize, cleared: bool): void {
  if (!recording) return;
  undoAccount = undoEnd;
  const record = extendUndo(ACCOUNT);
  memory.fill(record, 0, ACCOUNT);
  copyWord(record, key);
  if (oldLeaf) {
    readFields(oldLeaf, record);
    store<u8>(record, <u8>(cleared ? KIND_PUT_CLEARED : KIND_PUT), 108);
  }
  store<u32>(undoBase, load<u32>(undoBase) + 1);
}

/** Adds a slot of the last started account: its old value, zero (leaf 0) if it had none. */
export function undoForSlot(key: usize, oldLeaf: usize): void {
  if (!recording) return;
  const record = extendUndo(SLOT_RECORD);
  copyWord(record, key);
  if (oldLeaf) readValue(oldLeaf, record + 32);
  else memory.fill(record + 32, 0, 32);
  const account = undoBase + undoAccount;
  store<u32>(account, slotsOf(account) + 1, 104);
  store<u32>(undoBase, load<u32>(undoBase, 4) + 1, 4);
}

/** Removes the last started account, which has no slots: nothing about it changed. */
export function dropUndoAccount(): void {
  if (!recording) return;
  undoEnd = undoAccount;
  store<u32>(undoBase, load<u32>(undoBase) - 1);
}
