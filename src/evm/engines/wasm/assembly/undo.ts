/*
 * Undo log of the message: copies of accounts and slots from before their first change in a frame. A record ends with a trailer, so
 * that the log is read backwards: kind u32, entry u32, the entry's previous record u32. An entry stores its newest record, so that
 * it is copied once per frame and not at each change.
 */
import { exhaust, slotIndex, undoEnd, undoStart } from "./memory";
import { FLAGS, PRECOMPILE, TOUCHED } from "./accounts";

const TRAILER: usize = 16;
/** Size of the changing fields of an entry, from its start. */
const CHANGING: usize = 96;
const RECORD: usize = CHANGING + TRAILER;
/** This precompile stays touched by a failed call (state/journal/undo.ts). */
const RIPEMD: u32 = 3;
/** Offset of an entry's newest record. */
export const NEWEST: usize = 92;

/** End of the log. */
export let undoAt: usize = 0;
/** Start of the current frame's part. */
export let frameMark: usize = 0;

export function beginUndo(): void { undoAt = undoStart; frameMark = undoStart; }
export function setFrameMark(mark: usize): void { frameMark = mark; }

/** Called before any change of an account or a slot. */
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

/** Restores the entries to the mark. A record restores its entry, including the address of the newest record. */
export function rollBack(mark: usize): void {
  while (undoAt > mark) {
    undoAt -= RECORD;
    const entry = <usize>load<u32>(undoAt + CHANGING), isRipemd = entry < slotIndex && load<u32>(entry, PRECOMPILE) == RIPEMD;
    const kept = isRipemd ? load<u32>(entry, FLAGS) & TOUCHED : 0;
    memory.copy(entry, undoAt, CHANGING);
    if (kept) store<u32>(entry, load<u32>(entry, FLAGS) | kept, FLAGS);
  }
}
