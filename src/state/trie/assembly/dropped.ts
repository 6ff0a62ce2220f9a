/*
 * Rows that are gone, until the next flush deletes them: a region of entries
 *   account key 32, of a storage trie | key 32, whose first nibbles are the row's path | depth u8 | flags u8 (1: of storage, 2: all rows of the account) | 6 unused
 */
import { reserve } from "./memory";
import { copyWord } from "./nodes";

export const DROPPED: usize = 72;
export const OF_STORAGE: u32 = 1;
export const ALL_ROWS: u32 = 2;

const REGION: usize = memory.data(8, 8);
let end: usize = 0;
let recording: bool = false;
/** Address of the key of the account whose storage trie is being changed; 0: the account trie is. */
let account: usize = 0;

export function recordDropped(): void { recording = true; }
export function setCurrentAccount(key: usize): void { account = key; }
export function droppedAt(): usize { return load<u32>(REGION); }
export function droppedSize(): usize { return end; }
export function clearDropped(): void { end = 0; }

function add(key: usize, depth: u32, flags: u32): void {
  const entry = reserve(REGION, end + DROPPED, end) + end;
  end += DROPPED;
  if (account) copyWord(entry, account);
  copyWord(entry + 32, key);
  store<u8>(entry, <u8>depth, 64);
  store<u8>(entry, <u8>(account ? flags | OF_STORAGE : flags), 65);
}

/** The row of the branch at `depth` on the way to a key of the current trie is gone. */
export function dropRow(key: usize, depth: u32): void { if (recording) add(key, depth, 0); }
/** All rows of the current account's storage are gone. */
export function dropAllRows(): void { if (recording) add(account, 0, ALL_ROWS); }
