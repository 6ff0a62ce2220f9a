/*
 * Codes of accounts, each with its jump destinations. Codes that the host can load again stay in pages across messages; when no page is
 * left, one that no frame runs is taken from its codes. A page has another version each time it is taken, by which an account sees that
 * its code is gone. Codes that the message itself has created, and those larger than a page, stay until the message ends.
 */
import { align, codesEnd, codesStart, exhaust, pageCount, pagesStart, unpagedStart } from "./memory";
import { keccak256 } from "../../../../crypto/assembly/keccak";
import { analyse, CODE_TAIL, frame } from "./frames";
import { CODE, CODE_HASH, CODE_LOADED, CODE_PAGE, CODE_SIZE, CODE_VERSION, FLAGS, FRAME_CODE, HASH_KNOWN, HAS_CODE, JUMPS, PARENT } from "./layout";

/** An operation may need this many codes at once, with the code of its frame. */
const RECENT: u32 = 4;
/** Pages tried at random before all are tried in order: few are in use, for deep frames have little gas. */
const TRIES: u32 = 64;

/** Hash of no code, written by the host. */
export const EMPTY_HASH: usize = memory.data(32, 16);
/** Pages that have been used. */
export let pagesUsed: u32 = 0;
/** Page taken by the last call of `codeRoom`; below zero: none. */
export let pageTaken: i32 = -1;
let version: u32 = 0;
let roomAt: usize = 0;
let roomEnd: usize = 0;
let unpagedAt: usize = 0;
let random: u32 = 1;
/** The choice of a page changes no result. */
export function setPageSeed(seed: u64): void { random = <u32>seed | 1; }

/** Drops all codes: no account may refer to one. */
export function dropCodes(): void {
  pagesUsed = 0;
  roomAt = 0;
  roomEnd = 0;
  beginCodes();
}
/** Drops the codes without a page. */
export function beginCodes(): void { unpagedAt = unpagedStart; }
/** Bytes touched. */
export function codeBytes(): usize { return (<usize>pagesUsed) * CODE_PAGE + (unpagedAt - unpagedStart); }

@inline function versionOf(page: u32): usize { return codesStart + (<usize>page << 2); }
/** Returns the page of a code; below zero: it has none. */
export function pageOf(code: usize): i32 { return code < unpagedStart ? <i32>((code - pagesStart) / CODE_PAGE) : -1; }

/** A frame runs code of the page, or it was taken just now. */
function isInUse(page: u32): bool {
  if (version - load<u32>(versionOf(page)) < RECENT) return true;
  const start = pagesStart + <usize>page * CODE_PAGE;
  for (let at = frame; at; at = load<u32>(at, PARENT)) if (<usize>load<u32>(at, FRAME_CODE) - start < CODE_PAGE) return true;
  return false;
}
/** Returns a page whose codes may go; below zero: there is none. */
function freePage(): i32 {
  if (pagesUsed < pageCount) return pagesUsed++;
  let page: u32 = 0;
  for (let i: u32 = 0; i < TRIES; i++) {
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    page = random % pageCount;
    if (!isInUse(page)) return page;
  }
  for (page = 0; page < pageCount; page++) if (!isInUse(page)) return page;
  return -1;
}

function unpagedRoom(bytes: usize): usize {
  const room = unpagedAt;
  if (room + bytes > codesEnd) {
    exhaust();
    return 0;
  }
  unpagedAt = room + bytes;
  return room;
}
function roomOf(size: u32): usize { return align(size + CODE_TAIL + (size >> 3) + 2); }

/** Reserves room for a code; 0 when there is none. The host writes it there and calls `keepCode`. */
export function codeRoom(size: u32): usize {
  const bytes = roomOf(size);
  pageTaken = -1;
  if (bytes > CODE_PAGE) return unpagedRoom(bytes);
  if (roomAt + bytes > roomEnd) {
    pageTaken = freePage();
    if (pageTaken < 0) {
      exhaust();
      return 0;
    }
    store<u32>(versionOf(pageTaken), ++version);
    roomAt = pagesStart + <usize>pageTaken * CODE_PAGE;
    roomEnd = roomAt + CODE_PAGE;
  }
  const room = roomAt;
  roomAt = room + bytes;
  return room;
}
/** Completes the code at an address; returns the address of its jump destinations. */
export function keepCode(code: usize, size: u32): usize {
  const jumps = code + size + CODE_TAIL;
  memory.fill(code + size, 0, CODE_TAIL);
  analyse(code, size, jumps);
  return jumps;
}
/** True when code of the account must be loaded before it is used. */
@inline export function lacksCode(account: usize): bool {
  const flags = load<u32>(account, FLAGS);
  if ((flags & HAS_CODE) == 0) return false;
  if ((flags & CODE_LOADED) == 0) return true;
  const page = pageOf(load<u32>(account, CODE));
  return page >= 0 && load<u32>(versionOf(page)) != load<u32>(account, CODE_VERSION);
}
/** Assigns the code at an address to an account. */
export function useCode(account: usize, code: usize, size: u32, jumps: usize): void {
  const page = pageOf(code);
  store<u32>(account, page < 0 ? 0 : load<u32>(versionOf(page)), CODE_VERSION);
  store<u32>(account, <u32>code, CODE);
  store<u32>(account, size, CODE_SIZE);
  store<u32>(account, <u32>jumps, JUMPS);
  store<u32>(account, load<u32>(account, FLAGS) | CODE_LOADED, FLAGS);
}
/** Assigns new code, which is copied, to an account; empty code removes it. The account must already be saved for undo. */
export function setCodeOf(account: usize, from: usize, size: u32): void {
  const flags = load<u32>(account, FLAGS) & ~(HAS_CODE | CODE_LOADED | HASH_KNOWN);
  store<u32>(account, flags, FLAGS);
  if (size == 0) return store<u32>(account, 0, CODE_SIZE);
  const at = unpagedRoom(roomOf(size));
  if (at == 0) return;
  memory.copy(at, from, size);
  store<u32>(account, flags | HAS_CODE, FLAGS);
  useCode(account, at, size, keepCode(at, size));
}
/** Returns the account's code hash as 32 bytes. Only code that the message created has no known hash, and that is never dropped. */
export function hashOf(account: usize): usize {
  if ((load<u32>(account, FLAGS) & HASH_KNOWN) == 0) {
    keccak256(load<u32>(account, CODE), load<u32>(account, CODE_SIZE), account + CODE_HASH);
    store<u32>(account, load<u32>(account, FLAGS) | HASH_KNOWN, FLAGS);
  }
  return account + CODE_HASH;
}

/** EIP-7702: the code is 0xef0100 and an address. */
export function isDelegation(account: usize): bool {
  const at = <usize>load<u32>(account, CODE);
  return load<u32>(account, CODE_SIZE) == 23 && load<u8>(at) == 0xef && load<u8>(at, 1) == 0x01 && load<u8>(at, 2) == 0x00;
}
