/*
 * Rows that a batch or a proof needs and that are not in memory, for the host to load: a region of entries
 *   slot u32 to fill, 0: the storage root of the leaf | leaf u32, 0: of the account trie | depth u32 | 4 unused | key 32, whose first nibbles are the path
 */
import { reserve } from "./memory";
import {
  ABSENT, BRANCH, EXTENSION, childOf, copyWord, kindOf, maskOf, missingDepth, missingSlot, nodeOf, pathAt, pathLength,
} from "./nodes";

export const ENTRY: usize = 48;
const REGION: usize = memory.data(8, 8);
const PATH: usize = memory.data(32, 16);
let count: u32 = 0;
let last: usize = 0;

export function missingCount(): u32 { return count; }
export function missingAt(): usize { return load<u32>(REGION); }

export function beginMissing(): void {
  count = 0;
  last = 0;
}

/** Adds what `find` has missed for a key. `root`: address of the slot that holds the leaf's storage root for the time being. Ascending keys miss a row in a row. */
export function addMissing(key: usize, leaf: usize, root: usize): void {
  const slot = missingSlot == root ? 0 : missingSlot;
  const identity = slot ? slot : leaf;
  if (identity != last) add(slot, leaf, missingDepth, key);
  last = identity;
}

function add(slot: usize, leaf: usize, depth: u32, key: usize): void {
  const size = <usize>count * ENTRY;
  const entry = reserve(REGION, size + ENTRY, size) + size;
  store<u32>(entry, <u32>slot);
  store<u32>(entry, <u32>leaf, 4);
  store<u32>(entry, depth, 8);
  copyWord(entry + 16, key);
  count++;
}

/** Adds every absent row of a storage trie. */
export function addMissingRows(root: usize, leaf: usize): void {
  if (load<u32>(root) == ABSENT) add(0, leaf, 0, PATH);
  else addBelow(root, leaf, 0);
}

function addBelow(slot: usize, leaf: usize, depth: u32): void {
  const node = nodeOf(slot);
  if (load<u32>(slot) == ABSENT) add(slot, leaf, depth, PATH);
  else if (kindOf(slot) == EXTENSION) {
    for (let i: u32 = 0; i < pathLength(node); i++) setNibble(PATH, depth + i, load<u8>(pathAt(node) + i));
    addBelow(node, leaf, depth + pathLength(node));
  } else if (kindOf(slot) == BRANCH)
    for (let x: u32 = 0; x < 16; x++)
      if ((maskOf(node) >> x) & 1) {
        setNibble(PATH, depth, x);
        addBelow(childOf(node, x), leaf, depth + 1);
      }
}

export function setNibble(key: usize, i: u32, x: u32): void {
  const at = key + (i >> 1);
  store<u8>(at, <u8>(i & 1 ? (load<u8>(at) & 0xf0) | x : (load<u8>(at) & 15) | (x << 4)));
}
