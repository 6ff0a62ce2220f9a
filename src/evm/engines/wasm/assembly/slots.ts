/*
 * Storage words by account and key, and transient ones (EIP-1153) in the same table. Words stay from one message to the next while the
 * host says that the storage under them is the same; the list has the entries that the current message uses.
 */
import { clear, copy, equal } from "./word";
import { exhaust, SLOT_INDEX_LEAST, slotIndex, slotIndexMost, slotList, slots, slotsEnd } from "./memory";
import { clearWords } from "./ranges";
import { save } from "./undo";
import { KEY, NEWEST, ORIGINAL, OWNER, SLOT_BYTES, SLOT_EPOCH, SLOT_LOADED, SLOT_WARM, STORAGE, STORAGE_ID, VALUE } from "./layout";

const TRANSIENT: u32 = 0x80000000;

/** End of the entries. */
export let slotsAt: usize = 0;
/** The index has at least twice as many places as there are entries. */
export let slotIndexMask: u32 = SLOT_INDEX_LEAST;
let slotSeed: u64 = 0;
export function setSlotSeed(value: u64): void { slotSeed = value; }

/** Number of the current message. */
let slotEpoch: u32 = 0;
/** End of the list. */
let usedAt: usize = 0;

/** False after a creation or a self-destruct, which may change the host's storage in other ways than by words. */
export let slotsStay = true;
export function dropSlotsLater(): void { slotsStay = false; }

/** `keeps`: the words of earlier messages stay; `committed`: with the changes of the last one. */
export function beginSlots(keeps: bool, committed: bool): void {
  // What stays must leave room for all that a message can pay for.
  if (++slotEpoch == 0 || !keeps || slotsAt > slots + ((slotsEnd - slots) >> 6)) clearSlots();
  else settleSlots(committed);
  usedAt = slotList;
  slotsStay = true;
}

/** Makes the current word the original one, or the other way round. */
function settleSlots(committed: bool): void {
  for (let at = slotList; at < usedAt; at += 4) {
    const slot = <usize>load<u32>(at);
    if (committed) copy(slot + ORIGINAL, slot + VALUE); else copy(slot + VALUE, slot + ORIGINAL);
  }
}

function clearSlots(): void {
  memory.fill(slotIndex, 0, (<usize>slotIndexMask + 1) << 2);
  slotsAt = slots;
  slotIndexMask = SLOT_INDEX_LEAST;
}

/** Adds an entry to the list of those in use. */
function use(slot: usize): void {
  store<u32>(slot, slotEpoch, SLOT_EPOCH);
  store<u32>(usedAt, <u32>slot);
  usedAt += 4;
}
/** First use of an earlier message's entry: it is cold, and a transient word is gone. */
function reuse(slot: usize): void {
  use(slot);
  store<u32>(slot, 0, SLOT_WARM);
  store<u32>(slot, 0, NEWEST);
  if (isTransient(slot)) clear(slot + VALUE);
}
/** Entry `index` of the list; 0: behind its end. */
export function usedSlot(index: u32): usize {
  const at = slotList + (<usize>index << 2);
  return at < usedAt ? <usize>load<u32>(at) : 0;
}
export function usedSlots(): u32 { return <u32>((usedAt - slotList) >> 2); }

@inline function hashOfKey(id: u32, key: usize): u32 {
  const k0 = load<u64>(key), k1 = load<u64>(key, 8), k2 = load<u64>(key, 16), k3 = load<u64>(key, 24);
  let h = (k0 ^ slotSeed ^ (<u64>id << 20)) * 0x9e3779b97f4a7c15;
  h = (h ^ (h >> 29) ^ k1) * 0xbf58476d1ce4e5b9;
  h = (h ^ (h >> 31) ^ k2) * 0x94d049bb133111eb;
  h = (h ^ (h >> 30) ^ k3) * 0xd6e8feb86659fd93;
  return <u32>(h >> 32);
}

/** Doubles the index. */
function growSlotIndex(): void {
  const mask = slotIndexMask = slotIndexMask * 2 + 1;
  memory.fill(slotIndex, 0, (<usize>mask + 1) << 2);
  for (let at = slots; at < slotsAt; at += SLOT_BYTES) {
    let i = hashOfKey(load<u32>(at, STORAGE_ID), at + KEY) & mask;
    while (load<u32>(slotIndex + (<usize>i << 2))) i = (i + 1) & mask;
    store<u32>(slotIndex + (<usize>i << 2), <u32>at);
  }
}

/** Returns the entry of a key; a missing one is created, or is 0. */
function find(account: usize, id: u32, key: usize, makes: bool): usize {
  let i = hashOfKey(id, key) & slotIndexMask;
  while (true) {
    const place = slotIndex + (<usize>i << 2);
    let slot = <usize>load<u32>(place);
    if (slot == 0) {
      if (!makes) return 0;
      slot = slotsAt;
      clearWords(slot, SLOT_BYTES);
      store<u32>(slot, id, STORAGE_ID);
      store<u32>(slot, <u32>account, OWNER);
      copy(slot + KEY, key);
      if (slot + SLOT_BYTES > slotsEnd) {
        exhaust();
        return slot;
      }
      store<u32>(place, <u32>slot);
      use(slot);
      slotsAt = slot + SLOT_BYTES;
      if ((slotsAt - slots) / SLOT_BYTES > <usize>(slotIndexMask >> 1) && slotIndexMask < slotIndexMost) growSlotIndex();
      return slot;
    }
    if (load<u32>(slot, STORAGE_ID) == id && equal(slot + KEY, key)) {
      if (load<u32>(slot, SLOT_EPOCH) != slotEpoch) reuse(slot);
      return slot;
    }
    i = (i + 1) & slotIndexMask;
  }
}

/** A new one is not loaded yet. */
export function slotOf(account: usize, key: usize): usize { return find(account, load<u32>(account, STORAGE), key, true); }
/** True when a read of the slot may cost less than a cold one. Otherwise code with less gas cannot pay, and nothing is loaded. */
export function maybeWarmSlot(account: usize, key: usize): bool {
  const slot = find(account, load<u32>(account, STORAGE), key, false);
  return slot != 0 && (load<u32>(slot, SLOT_LOADED) | load<u32>(slot, SLOT_WARM)) != 0;
}
/** Returns the entry of a key whose word is loaded; else 0. */
export function loadedSlot(account: usize, key: usize): usize {
  const slot = find(account, load<u32>(account, STORAGE), key, false);
  return slot && load<u32>(slot, SLOT_LOADED) ? slot : 0;
}
export function transientOf(account: usize, key: usize): usize {
  const slot = find(account, load<u32>(account, STORAGE) | TRANSIENT, key, true);
  store<u32>(slot, 1, SLOT_LOADED);
  return slot;
}
/** Copies the transient word, zero if none was written. */
export function loadTransient(to: usize, account: usize, key: usize): void {
  const slot = find(account, load<u32>(account, STORAGE) | TRANSIENT, key, false);
  if (slot) copy(to, slot + VALUE); else clear(to);
}
@inline export function keyOf(slot: usize): usize { return slot + KEY; }
export function isTransient(slot: usize): bool { return (load<u32>(slot, STORAGE_ID) & TRANSIENT) != 0; }
/** Sets the slot to its value at the start of the message, from the host. */
export function provide(slot: usize, word: usize): void {
  copy(slot + VALUE, word);
  copy(slot + ORIGINAL, word);
  store<u32>(slot, 1, SLOT_LOADED);
}
/** Makes the slot warm; returns true when it was cold. */
export function warmSlot(slot: usize): bool {
  if (load<u32>(slot, SLOT_WARM)) return false;
  save(slot);
  store<u32>(slot, 1, SLOT_WARM);
  return true;
}
export function setValue(slot: usize, word: usize): void {
  save(slot);
  copy(slot + VALUE, word);
}
/** Restores what the slot was before its first change by the message. */
export function restoreSlot(slot: usize, warm: u32): void {
  if (isTransient(slot)) clear(slot + VALUE); else copy(slot + VALUE, slot + ORIGINAL);
  store<u32>(slot, warm, SLOT_WARM);
}
