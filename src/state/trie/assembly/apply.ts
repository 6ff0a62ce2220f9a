/*
 * Applies a packed batch to the tries: first it is decoded and checked without any change, then each account's storage trie is updated and
 * a new leaf made for the account, then the account trie takes all leaves at once.
 */
import { keccak256 } from "../../../crypto/assembly/keccak";
import { addMissing, addMissingRows, beginMissing, missingCount } from "./missing";
import { dropAllRows, setCurrentAccount } from "./dropped";
import { EMPTY_ROOT, rootHash } from "./encode";
import { reserve } from "./memory";
import {
  BRANCH, EXTENSION, LEAF, LEAF_CHANGED, LEAF_STORAGE, MISSING, childOf, clearSlot, copyWord, find, kindOf, maskOf, newSlotLeaf, nodeOf,
  releaseBranch, releaseExtension, releaseLeaf, setStorage, significant, storageRootAt,
} from "./nodes";
import {
  ACCOUNT, HEADER, KIND_DELETE, KIND_KEEP, KIND_PUT_CLEARED, SLOT_RECORD, balanceOf, beginUndo, dropUndoAccount, kindOfRecord, newAccountLeaf,
  oldLeafOf, readFields, sameLeaf, setOldLeaf, setSlotPointers, slotPointersOf, slotsOf, undoForAccount, undoForSlot,
} from "./records";
import { hasDuplicate, sortPointers } from "./sort";
import { DELETE, PUT, setScratch, update } from "./update";

export const OK: i32 = 0;
const BAD_SIZE: i32 = 1;
const BAD_KIND: i32 = 2;
const DUPLICATE_ACCOUNT: i32 = 3;
const DUPLICATE_SLOT: i32 = 4;
const NO_ACCOUNT: i32 = 5;
/** Rows must be loaded first: see missing.ts. The same batch may then be applied again, at the same place. */
export const ROWS_MISSING: i32 = 6;

/** Slot of the account trie's root. */
export const ROOT: usize = memory.data(36, 16);
/** Slot of the current account's storage trie. */
const STORAGE: usize = memory.data(36, 16);
const STORAGE_ROOT: usize = memory.data(32, 16);

const INPUT: usize = memory.data(8, 8);
const POINTERS: usize = memory.data(8, 8);
let temp: usize = 0;
let accounts: i32 = 0;

export function accountCount(): i32 { return accounts; }
export function setAccountCount(count: i32): void { accounts = count; }

/** Reserves room for a batch of `size` bytes; returns where to write it. */
export function inputFor(size: usize): usize { return reserve(INPUT, size, 0); }

/** Applies the batch of `size` bytes at inputFor; returns OK, or a fault code with nothing changed. */
export function apply(size: usize, withUndo: bool): i32 {
  const input: usize = load<u32>(INPUT);
  if (size < HEADER) return BAD_SIZE;
  const count = load<u32>(input);
  const slots = load<u32>(input, 4);
  if (<u64>HEADER + <u64>count * ACCOUNT + <u64>slots * SLOT_RECORD != <u64>size) return BAD_SIZE;

  // Account pointers, slot pointers, and two scratch areas as long as both: for sorting, and for update.
  const total = <usize>(count + slots + 2) * 4;
  const pointers = reserve(POINTERS, total * 3, 0);
  const end = pointers + <usize>count * 4;
  temp = pointers + total;
  setScratch(pointers + total * 2);

  const fault = readBatch(input, size, pointers, end);
  if (fault != OK) return fault;

  beginUndo(withUndo);
  let kept = pointers;
  for (let p = pointers; p < end; p += 4) {
    const entry = prepareAccount(load<u32>(p));
    if (entry == 0) continue;
    store<u32>(kept, entry);
    kept += 4;
  }
  setStorage(false);
  if (kept > pointers) update(ROOT, 0, pointers, kept);
  return OK;
}

/** Checks the records, hashes unhashed keys, sorts, and finds each account's leaf. */
function readBatch(input: usize, size: usize, pointers: usize, end: usize): i32 {
  const hashed = load<u8>(input, 8) != 0;
  let fault = OK;
  let record = input + HEADER;
  const last = input + size;
  let slotPointers = end;
  for (let p = pointers; p < end; p += 4) {
    if (last - record < ACCOUNT) return BAD_SIZE;
    const slots = slotsOf(record);
    if (<u64>(last - record) < <u64>ACCOUNT + <u64>slots * SLOT_RECORD) return BAD_SIZE;
    if (kindOfRecord(record) > KIND_KEEP || (kindOfRecord(record) == KIND_DELETE && slots > 0)) return BAD_KIND;
    if (!hashed) keccak256(record, 20, record);
    store<u32>(p, <u32>record);
    setSlotPointers(record, slotPointers);
    record += ACCOUNT;
    const firstSlot = slotPointers;
    for (let i: u32 = 0; i < slots; i++) {
      if (!hashed) keccak256(record, 32, record);
      store<u32>(slotPointers, <u32>record);
      slotPointers += 4;
      record += SLOT_RECORD;
    }
    sortPointers(firstSlot, slotPointers, temp);
    if (hasDuplicate(firstSlot, slotPointers)) fault = DUPLICATE_SLOT;
  }
  if (record != last) return BAD_SIZE;
  // All keys are hashes from here on, also when the batch is applied again.
  store<u8>(input, 1, 8);
  sortPointers(pointers, end, temp);
  if (fault != OK) return fault;
  if (hasDuplicate(pointers, end)) return DUPLICATE_ACCOUNT;
  beginMissing();
  for (let p = pointers; p < end; p += 4) {
    const account: usize = load<u32>(p);
    const leaf = find(ROOT, account);
    if (leaf == MISSING) {
      addMissing(account, 0, 0);
      continue;
    }
    if (leaf == 0 && kindOfRecord(account) == KIND_KEEP) fault = NO_ACCOUNT;
    setOldLeaf(account, leaf);
    if (leaf) needStorage(account, leaf);
  }
  return missingCount() > 0 ? ROWS_MISSING : fault;
}

/** Looks for the rows of the storage that an account's record touches. */
function needStorage(record: usize, leaf: usize): void {
  const kind = kindOfRecord(record);
  const dropped = kind == KIND_DELETE || kind == KIND_PUT_CLEARED;
  if (load<u32>(leaf, LEAF_STORAGE) == 0 || (!dropped && slotsOf(record) == 0)) return;
  store<u32>(STORAGE, load<u32>(leaf, LEAF_STORAGE));
  if (dropped) {
    addMissingRows(STORAGE, leaf);
    return;
  }
  const first = slotPointersOf(record);
  const end = first + <usize>slotsOf(record) * 4;
  for (let p = first; p < end; p += 4) {
    const slot: usize = load<u32>(p);
    if (find(STORAGE, slot) == MISSING) addMissing(slot, leaf, STORAGE);
  }
}

/** Updates the storage of one account; returns its entry for the account trie, 0 when nothing changed. */
function prepareAccount(record: usize): u32 {
  const old = oldLeafOf(record);
  const kind = kindOfRecord(record);
  const cleared = kind == KIND_PUT_CLEARED;
  if (kind == KIND_DELETE && old == 0) {
    copyWord(balanceOf(record), EMPTY_ROOT);
    return 0;
  }
  undoForAccount(record, old, cleared);
  if (old) store<u32>(STORAGE, load<u32>(old, LEAF_STORAGE));
  else clearSlot(STORAGE);
  setStorage(true);
  setCurrentAccount(record);
  let touched = false;
  if (kind == KIND_DELETE || cleared) {
    if (kindOf(STORAGE) || (old && load<u8>(old, LEAF_CHANGED))) dropAllRows();
    if (kindOf(STORAGE)) {
      dropTrie(STORAGE);
      clearSlot(STORAGE);
      touched = true;
    }
  }
  if (slotsOf(record) > 0 && updateStorage(record, old != 0 && !cleared)) touched = true;
  // The hash of an untouched trie is in the old leaf only.
  if (!touched && kindOf(STORAGE)) copyWord(STORAGE_ROOT, storageRootAt(old));
  else rootHash(STORAGE, STORAGE_ROOT);
  setStorage(false);
  setCurrentAccount(0);

  if (kind == KIND_DELETE) {
    accounts--;
    copyWord(balanceOf(record), EMPTY_ROOT);
    return <u32>record | DELETE;
  }
  if (kind == KIND_KEEP) readFields(old, record);
  const leaf = newAccountLeaf(record, STORAGE, STORAGE_ROOT);
  if (touched || (old && load<u8>(old, LEAF_CHANGED))) store<u8>(leaf, 1, LEAF_CHANGED);
  // The record's balance is no longer needed: the storage root is returned in its place.
  copyWord(balanceOf(record), STORAGE_ROOT);
  if (old == 0) accounts++;
  else if (!touched && sameLeaf(old, leaf)) {
    releaseLeaf(leaf);
    dropUndoAccount();
    return 0;
  }
  return <u32>leaf | PUT;
}

/** Applies the account's slots to its storage trie; returns true when any changed. */
function updateStorage(record: usize, withUndo: bool): bool {
  const first = slotPointersOf(record);
  const end = first + <usize>slotsOf(record) * 4;
  let kept = first;
  for (let p = first; p < end; p += 4) {
    const slot: usize = load<u32>(p);
    const old = find(STORAGE, slot);
    const size = significant(slot + 32, 32);
    if (size == 0 ? old == 0 : old != 0 && sameValue(old, slot + 32, size)) continue;
    if (withUndo) undoForSlot(slot, old);
    store<u32>(kept, size == 0 ? <u32>slot | DELETE : <u32>newSlotLeaf(slot, slot + 32) | PUT);
    kept += 4;
  }
  if (kept == first) return false;
  update(STORAGE, 0, first, kept);
  return true;
}

function sameValue(leaf: usize, value: usize, size: u32): bool {
  return <u32>load<u8>(leaf, 32) == size && memory.compare(leaf + 33, value + 32 - size, size) == 0;
}

/** Releases a whole storage trie and records every slot for the undo, in key order. */
function dropTrie(slot: usize): void {
  const node = nodeOf(slot);
  const kind = kindOf(slot);
  if (kind == LEAF) {
    undoForSlot(node, node);
    releaseLeaf(node);
  } else if (kind == EXTENSION) {
    dropTrie(node);
    releaseExtension(node);
  } else if (kind == BRANCH) {
    for (let x: u32 = 0; x < 16; x++) if ((maskOf(node) >> x) & 1) dropTrie(childOf(node, x));
    releaseBranch(node);
  }
}
