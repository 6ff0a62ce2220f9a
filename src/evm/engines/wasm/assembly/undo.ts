/*
 * Undo log of the message: copies of accounts and slots from before their first change in a frame. A record ends with a trailer, so
 * that the log is read backwards: kind u32, entry u32, the entry's record before this one u32. An entry knows its newest record, so
 * that it is copied once per frame and not with each change.
 */
import { exhaust, slotIndex, undoEnd, undoStart } from "./memory";
import { FLAGS, PRECOMPILE, TOUCHED } from "./accounts";

const TRAILER: usize = 16;
/** Bytes of an entry that change, from its start. */
const CHANGING: usize = 96;
const RECORD: usize = CHANGING + TRAILER;
/** This precompile stays touched by a call that failed (state/journal/undo.ts). */
const RIPEMD: u32 = 3;
/** Every entry keeps the address of its newest record here. */
const NEWEST: usize = 92;

/** End of the log. */
export let undoAt: usize = 0;
/** Start of the running frame's part. */
export let frameMark: usize = 0;

export function beginUndo(): void { undoAt = undoStart; frameMark = undoStart; }
export function setFrameMark(mark: usize): void { frameMark = mark; }

/** To be called before any change of an account or a slot. */
// @ts-ignore: decorator
@inline export function save(entry: usize): void {
  if (<usize>load<u32>(entry, NEWEST) < frameMark) record(entry);
}

function record(entry: usize): void {
  if (undoAt + RECORD > undoEnd) return exhaust();
  memory.copy(undoAt, entry, CHANGING);
  store<u32>(undoAt + CHANGING, <u32>entry);
  store<u32>(entry, <u32>undoAt, NEWEST);
  undoAt += RECORD;
}

/** Gives back what the entries were at the mark. A record restores its entry, the address of the newest record included. */
export function rollBack(mark: usize): void {
  while (undoAt > mark) {
    undoAt -= RECORD;
    const entry = <usize>load<u32>(undoAt + CHANGING), isRipemd = entry < slotIndex && load<u32>(entry, PRECOMPILE) == RIPEMD;
    const kept = isRipemd ? load<u32>(entry, FLAGS) & TOUCHED : 0;
    memory.copy(entry, undoAt, CHANGING);
    if (kept) store<u32>(entry, load<u32>(entry, FLAGS) | kept, FLAGS);
  }
}
