/*
 * Regions of the linear memory, laid out once by `layOut`:
 *
 *   static data | account index, list, accounts | slot index, list, slots | undo log | logs | return data | codes | frames ...
 *
 * All but the last have a fixed size, which suffices for all that 100 M gas can pay for. A full one sets `exhausted`: execution continues
 * without memory errors, and its result is not used. The frames are last because they grow with the memory that code pays for. Memory
 * that is not touched takes none: the indexes begin small and double with their entries.
 */
import { ACCOUNT_BYTES, CODE_PAGE, SLOT_BYTES } from "./layout";

export let accountIndex: usize = 0;
/** Bounds of the index's mask. */
export const ACCOUNT_INDEX_LEAST: u32 = 2048 - 1;
export let accountIndexMost: u32 = 0;
/** Entries that the current message uses, in the order of their first use. */
export let accountList: usize = 0;
export let accounts: usize = 0;
export let accountsEnd: usize = 0;
export let slotIndex: usize = 0;
export const SLOT_INDEX_LEAST: u32 = 2048 - 1;
export let slotIndexMost: u32 = 0;
export let slotList: usize = 0;
export let slots: usize = 0;
export let slotsEnd: usize = 0;
export let undoStart: usize = 0;
export let undoEnd: usize = 0;
export let logsStart: usize = 0;
export let logsEnd: usize = 0;
export let returned: usize = 0;
export let returnedEnd: usize = 0;
/** Versions of the pages of codes, the pages, and the codes that have none (codes.ts). */
export let codesStart: usize = 0;
export let pageCount: u32 = 0;
export let pagesStart: usize = 0;
export let unpagedStart: usize = 0;
export let codesEnd: usize = 0;
export let framesStart: usize = 0;
/** End of the usable memory, and of the memory allocated so far. */
let framesLimit: u64 = 0;
let present: u64 = 0;

/** A region, or the memory, was too small for the current message. */
export let exhausted: bool = false;
export function exhaust(): void { exhausted = true; }
export function refresh(): void { exhausted = false; }

export function align(at: usize): usize { return (at + 63) & ~63; }


/** Sizes: accounts and slots in entries (powers of two), codes in pages, the others in bytes; `most` bounds the whole memory. */
export function layOut(accountCount: u32, slotCount: u32, undo: u32, logs: u32, output: u32, pages: u32, unpaged: u32, most: u32): bool {
  accountIndexMost = accountCount * 2 - 1;
  slotIndexMost = slotCount * 2 - 1;
  accountIndex = align(__heap_base);
  accountList = align(accountIndex + (<usize>accountCount << 3));
  accounts = align(accountList + (<usize>accountCount << 2));
  accountsEnd = accounts + <usize>accountCount * ACCOUNT_BYTES;
  slotIndex = align(accountsEnd + ACCOUNT_BYTES);
  slotList = align(slotIndex + (<usize>slotCount << 3));
  slots = align(slotList + (<usize>slotCount << 2));
  slotsEnd = slots + <usize>slotCount * SLOT_BYTES;
  undoStart = align(slotsEnd + SLOT_BYTES);
  undoEnd = undoStart + undo;
  logsStart = align(undoEnd + 512);
  logsEnd = logsStart + logs;
  returned = align(logsEnd);
  returnedEnd = returned + output;
  codesStart = align(returnedEnd);
  pageCount = pages;
  pagesStart = align(codesStart + (<usize>pages << 2));
  unpagedStart = pagesStart + <usize>pages * CODE_PAGE;
  codesEnd = unpagedStart + unpaged;
  framesStart = align(codesEnd);
  framesLimit = most;
  present = <u64>memory.size() << 16;
  return reserve(framesStart, 1 << 16);
}

/** Bytes touched, with the lists of entries. Frames count as far as memory has grown. */
export function bytesTouched(accountBytes: usize, slotBytes: usize, indexBytes: usize, undoAt: usize, logsAt: usize, codeBytes: usize, returnedBytes: usize): usize {
  const entries = accountBytes + accountBytes / ACCOUNT_BYTES * 4 + slotBytes + slotBytes / SLOT_BYTES * 4 + indexBytes;
  return entries + (undoAt - undoStart) + (logsAt - logsStart) + codeBytes + returnedBytes + (<usize>present - framesStart);
}

/** Grows memory to reach the end of this range; returns false when that is not allowed. Fresh memory is zero, used memory is not. */
export function reserve(at: usize, size: u64): bool {
  const end = <u64>at + size;
  if (end <= present) return true;
  if (end > framesLimit) {
    exhausted = true;
    return false;
  }
  const missing = <i32>((end - present + 0xffff) >> 16);
  if (memory.grow(max(missing, 16)) < 0 && memory.grow(missing) < 0) {
    exhausted = true;
    return false;
  }
  present = <u64>memory.size() << 16;
  return true;
}
