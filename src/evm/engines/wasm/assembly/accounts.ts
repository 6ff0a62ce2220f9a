/*
 * Accounts of the current message, by address: loaded from the host once, changed here, read back at the end. The changing fields are the
 * first 96 bytes, which the undo log copies. Entries stay from one message to the next with the number that keys their slots, but each
 * message loads them again; the list has those that the current message uses.
 */
import { isZero, swapBytes } from "./word";
import { ACCOUNT_INDEX_LEAST, accountIndex, accountIndexMost, accountList, accounts, accountsEnd, exhaust } from "./memory";
import { clearWords, copyApart } from "./ranges";
import { save } from "./undo";
import { ACCOUNT_BYTES, ACCOUNT_EPOCH, ADDRESS, ADDRESS_BYTES, BALANCE, CHANGED, CREATED, DESTROYED, EXISTS, FLAGS, HAS_CODE, HAS_STORAGE, LOADED, NONCE, PLACE, PRECOMPILE, STORAGE, TOUCHED, WARM } from "./layout";

/** End of the entries. */
export let accountsAt: usize = 0;
/** The index has at least twice as many places as there are entries. */
export let accountIndexMask: u32 = ACCOUNT_INDEX_LEAST;
/** Number of the current message. */
let epoch: u32 = 0;
/** End of the list. */
let usedAt: usize = 0;
let seed: u64 = 0;
let nextStorage: u32 = 1;

export function setSeed(value: u64): void { seed = value; }

/** Returns false when the entries of earlier messages, and so the slots keyed by them, cannot stay. */
export function beginAccounts(keeps: bool): bool {
  // What stays must leave room for all that a message can pay for.
  const stay = ++epoch != 0 && keeps && accountsAt <= accounts + ((accountsEnd - accounts) >> 4);
  if (!stay) clearAccounts();
  usedAt = accountList;
  return stay;
}

function clearAccounts(): void {
  for (let at = accounts; at < accountsAt; at += ACCOUNT_BYTES) store<u32>(<usize>load<u32>(at, PLACE), 0);
  accountsAt = accounts;
  accountIndexMask = ACCOUNT_INDEX_LEAST;
  nextStorage = 1;
}

@inline function place(a0: u64, a1: u64, a2: u64): u32 {
  let h = (a0 ^ seed) * 0x9e3779b97f4a7c15;
  h = (h ^ (h >> 29) ^ a1) * 0xbf58476d1ce4e5b9;
  h = (h ^ (h >> 32) ^ a2) * 0x94d049bb133111eb;
  return <u32>(h >> 32);
}

/** Doubles the index. */
function growAccountIndex(): void {
  const mask = accountIndexMask = accountIndexMask * 2 + 1;
  memory.fill(accountIndex, 0, (<usize>mask + 1) << 2);
  for (let at = accounts; at < accountsAt; at += ACCOUNT_BYTES) {
    let i = place(load<u64>(at, ADDRESS), load<u64>(at, ADDRESS + 8), <u64>load<u32>(at, ADDRESS + 16)) & mask;
    while (load<u32>(accountIndex + (<usize>i << 2))) i = (i + 1) & mask;
    store<u32>(accountIndex + (<usize>i << 2), <u32>at);
    store<u32>(at, <u32>(accountIndex + (<usize>i << 2)), PLACE);
  }
}

/** Returns the entry of the address in the lowest 20 bytes of the word; a new one is not loaded yet. */
export function accountAt(word: usize): usize {
  const a0 = load<u64>(word), a1 = load<u64>(word, 8), a2 = <u64>load<u32>(word, 16);
  let i = place(a0, a1, a2) & accountIndexMask;
  while (true) {
    const slot = accountIndex + (<usize>i << 2);
    const entry = <usize>load<u32>(slot);
    if (entry == 0) return enter(slot, a0, a1, a2);
    if (load<u64>(entry, ADDRESS) == a0 && load<u64>(entry, ADDRESS + 8) == a1 && load<u64>(entry, ADDRESS + 16) == a2) {
      if (load<u32>(entry, ACCOUNT_EPOCH) != epoch) reuse(entry);
      return entry;
    }
    i = (i + 1) & accountIndexMask;
  }
}

/** Returns the entry of the address if this message uses one; else 0. */
function knownAccount(word: usize): usize {
  const a0 = load<u64>(word), a1 = load<u64>(word, 8), a2 = <u64>load<u32>(word, 16);
  let i = place(a0, a1, a2) & accountIndexMask;
  while (true) {
    const entry = <usize>load<u32>(accountIndex + (<usize>i << 2));
    if (entry == 0) return 0;
    if (load<u64>(entry, ADDRESS) == a0 && load<u64>(entry, ADDRESS + 8) == a1 && load<u64>(entry, ADDRESS + 16) == a2) return load<u32>(entry, ACCOUNT_EPOCH) == epoch ? entry : 0;
    i = (i + 1) & accountIndexMask;
  }
}
/** Lower addresses may be precompiles, which are warm: known once loaded. */
const LOW_ADDRESS: u64 = 1024;
/** True when an access to the account may cost less than a cold one. Otherwise code with less gas cannot pay, and nothing is loaded. */
export function maybeWarm(word: usize): bool {
  const entry = knownAccount(word);
  if (entry && (isLoaded(entry) || load<u32>(entry, WARM))) return true;
  return load<u64>(word) < LOW_ADDRESS && load<u64>(word, 8) == 0 && load<u32>(word, 16) == 0;
}

/** Adds an entry to the list of those in use. */
function use(entry: usize): void {
  store<u32>(entry, epoch, ACCOUNT_EPOCH);
  store<u32>(usedAt, <u32>entry);
  usedAt += 4;
}
/** First use of an earlier message's entry: it is to be loaded again. */
function reuse(entry: usize): void {
  const storage = load<u32>(entry, STORAGE);
  clearWords(entry, ADDRESS);
  store<u32>(entry, storage, STORAGE);
  store<u32>(entry, 0, LOADED);
  store<u32>(entry, 0, PRECOMPILE);
  store<u32>(entry, 0, HAS_STORAGE);
  use(entry);
}
/** Entry `index` of the list; 0: behind its end. */
export function usedAccount(index: u32): usize {
  const at = accountList + (<usize>index << 2);
  return at < usedAt ? <usize>load<u32>(at) : 0;
}
export function usedAccounts(): u32 { return <u32>((usedAt - accountList) >> 2); }

function enter(slot: usize, a0: u64, a1: u64, a2: u64): usize {
  const entry = accountsAt;
  clearWords(entry, ACCOUNT_BYTES);
  store<u64>(entry, a0, ADDRESS);
  store<u64>(entry, a1, ADDRESS + 8);
  store<u64>(entry, a2, ADDRESS + 16);
  swapBytes(BYTES, entry + ADDRESS);
  copyApart(entry + ADDRESS_BYTES, BYTES + 12, 20);
  store<u32>(entry, nextStorage++, STORAGE);
  if (entry + ACCOUNT_BYTES > accountsEnd) {
    // The extra entry behind the region takes the overflow; it is in no index and never loaded.
    exhaust();
    return entry;
  }
  store<u32>(slot, <u32>entry);
  store<u32>(entry, <u32>slot, PLACE);
  use(entry);
  accountsAt = entry + ACCOUNT_BYTES;
  if ((accountsAt - accounts) / ACCOUNT_BYTES > <usize>(accountIndexMask >> 1) && accountIndexMask < accountIndexMost) growAccountIndex();
  return entry;
}

const BYTES: usize = memory.data(32, 16);

@inline export function isLoaded(entry: usize): bool { return load<u32>(entry, LOADED) != 0; }
@inline export function has(entry: usize, flag: u32): bool { return (load<u32>(entry, FLAGS) & flag) != 0; }
export function raise(entry: usize, flags: u32): void {
  if ((load<u32>(entry, FLAGS) & flags) == flags) return;
  save(entry);
  store<u32>(entry, load<u32>(entry, FLAGS) | flags, FLAGS);
}
/** Makes the account warm; returns true when it was cold. */
export function warmAccount(entry: usize): bool {
  if (load<u32>(entry, WARM)) return false;
  save(entry);
  store<u32>(entry, 1, WARM);
  return true;
}
/** EIP-161: no nonce, balance and code. */
export function isEmpty(entry: usize): bool {
  return load<u64>(entry, NONCE) == 0 && !has(entry, HAS_CODE) && isZero(entry + BALANCE);
}
/** Called before a change of balance, nonce or code. */
export function change(entry: usize): void {
  save(entry);
  store<u32>(entry, load<u32>(entry, FLAGS) | EXISTS | TOUCHED | CHANGED, FLAGS);
}
/** True for an account that the host writes back at the end: it changed, or the sweep of EIP-158 may delete it. */
export function mustDrain(entry: usize): bool {
  const flags = load<u32>(entry, FLAGS);
  return (flags & (CHANGED | CREATED | DESTROYED)) != 0 || ((flags & TOUCHED) != 0 && isEmpty(entry));
}
/** Makes the account exist; it is swept at the end when empty (EIP-158). */
export function touch(entry: usize): void { raise(entry, EXISTS | TOUCHED); }
