/*
 * Undo log of the message: copies of accounts and slots from before their first change in a frame. A record ends with a trailer, so
 * that the log is read backwards: entry u32, kind u32, warm flag u32. An entry stores its newest record, so that it is copied once per
 * frame and not at each change. The first record of a slot in a message has no copy, since it changes back to its original word.
 */
import { exhaust, slotIndex, undoEnd, undoStart } from "./memory";
import { restoreSlot } from "./slots";
import { copyWords } from "./ranges";
import { FLAGS, NEWEST, PRECOMPILE, SLOT_WARM, TOUCHED } from "./layout";

const TRAILER: usize = 16;
/** Size of the changing fields of an entry, from its start. */
const CHANGING: usize = 96;
const RECORD: usize = CHANGING + TRAILER;
// Trailer.
const KIND: usize = 4;
const WAS_WARM: usize = 8;
const COPY: u32 = 0;
const FIRST: u32 = 1;
/** This precompile stays touched by a failed call (state/journal/journal.ts). */
const RIPEMD: u32 = 3;

/** End of the log. */
export let undoAt: usize = 0;
/** Start of the current frame's part. */
export let frameMark: usize = 0;

export function beginUndo(): void { undoAt = undoStart; frameMark = undoStart; }
export function setFrameMark(mark: usize): void { frameMark = mark; }

/** Called before any change of an account or a slot. */
@inline export function save(entry: usize): void {
  if (<usize>load<u32>(entry, NEWEST) < frameMark) record(entry);
}

function record(entry: usize): void {
  if (undoAt + RECORD > undoEnd) return exhaust();
  const at = undoAt, isFirst = entry > slotIndex && load<u32>(entry, NEWEST) == 0;
  const trailer = isFirst ? at : at + CHANGING;
  if (isFirst) store<u32>(trailer, load<u32>(entry, SLOT_WARM), WAS_WARM);
  else copyWords(at, entry, CHANGING);
  store<u32>(trailer, <u32>entry);
  store<u32>(trailer, isFirst ? FIRST : COPY, KIND);
  store<u32>(entry, <u32>at, NEWEST);
  undoAt = trailer + TRAILER;
}

/** Restores the entries to the mark. A record restores its entry, including the address of the newest record. */
export function rollBack(mark: usize): void {
  while (undoAt > mark) {
    const trailer = undoAt - TRAILER, entry = <usize>load<u32>(trailer);
    if (load<u32>(trailer, KIND) == FIRST) {
      undoAt = trailer;
      restoreSlot(entry, load<u32>(trailer, WAS_WARM));
      store<u32>(entry, 0, NEWEST);
      continue;
    }
    undoAt = trailer - CHANGING;
    const isRipemd = entry < slotIndex && load<u32>(entry, PRECOMPILE) == RIPEMD;
    const kept = isRipemd ? load<u32>(entry, FLAGS) & TOUCHED : 0;
    copyWords(entry, undoAt, CHANGING);
    if (kept) store<u32>(entry, load<u32>(entry, FLAGS) | kept, FLAGS);
  }
}
