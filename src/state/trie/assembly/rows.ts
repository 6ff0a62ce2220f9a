/*
 * Rows: how a trie stands in a database. A row holds a branch with what is below it, down to branches that have a row themselves, of which
 * it holds the hash; the root's row holds the root, of whatever kind. A row's key is the path of its branch, without the extensions above
 * it, so that these may be split and joined without another row. A node in a row, after the nibbles above it:
 *   leaf:      1 | rest of the key, from the byte of its first nibble | slot: size u8, value
 *                                                                     | account: nonce size u8, balance size u8, flags u8 (1 code, 2 storage), fields as in the leaf
 *   branch:    2 | mask u16 | children, in order
 *   extension: 3 | count u8 | one nibble per byte | branch or hash
 *   hash:      4 | 32 bytes: a branch with a row
 * The first three, except for the row's own node and what is part of its parent's encoding, have 16 added and the node's hash after that byte:
 * a row is read without hashing what it holds.
 */
import { ALL_ROWS, DROPPED, OF_STORAGE, clearDropped, droppedAt, droppedSize, recordDropped } from "./dropped";
import { rootHash, seal } from "./encode";
import { allocate, reserve, usedBytes } from "./memory";
import { ENTRY, missingAt, setNibble } from "./missing";
import {
  ABSENT, BRANCH, DIRTY, EMPTY, EXTENSION, LEAF, LEAF_CHANGED, LEAF_FIELDS, LEAF_STORAGE, ROW, USED, childOf, clearDirtyCount, clearSlot, copyWord, dirtyBranches, flagsOf,
  hasChild, inStorage, isInline, kindOf, leafSize, maskOf, newBranch, newExtension, nodeOf, pathAt, pathLength, releaseBranch, releaseExtension,
  releaseLeaf, setFlags, setNode, setStorage, storageRootAt,
} from "./nodes";
import { ROOT } from "./apply";

/** Leaves of a row above which its larger subtrees get rows, and leaves of such a subtree. */
let manyLeaves: u32 = 32;
let fewLeaves: u32 = 4;
export function divideRows(above: u32, from: u32): void {
  manyLeaves = above;
  fewLeaves = from;
}
const TAG_LEAF: u8 = 1;
const TAG_BRANCH: u8 = 2;
const TAG_EXTENSION: u8 = 3;
const TAG_HASH: u8 = 4;
const HASHED: u8 = 16;

// --- from rows

const INPUT: usize = memory.data(8, 8);
const KEY: usize = memory.data(32, 16);
const SLOT_BUFFER: usize = memory.data(36, 16);
const HASH: usize = memory.data(32, 16);
let r: usize = 0;
let rEnd: usize = 0;
let bad: bool = false;

/** Reserves room for a row of `size` bytes; returns where to write it. */
export function rowFor(size: usize): usize { return reserve(INPUT, size + 1024, 0); }

/** Makes the trie that of a root whose rows the host has; `hash` (32) is at rowFor, `count` is its number of accounts. */
export function attach(): void {
  recordDropped();
  store<u32>(ROOT, ABSENT);
  copyWord(ROOT + 4, load<u32>(INPUT));
}
/** Makes the host keep rows of an empty trie. */
export function attachEmpty(): void { recordDropped(); }

/** Puts the row of `size` bytes at rowFor in its place, that of a missing entry; returns false when it is not the row of that place. */
export function expand(index: u32, size: usize): bool {
  const entry = missingAt() + <usize>index * ENTRY;
  const slot: usize = load<u32>(entry);
  const leaf: usize = load<u32>(entry, 4);
  const depth = load<u32>(entry, 8);
  r = load<u32>(INPUT);
  rEnd = r + size;
  bad = false;
  copyWord(KEY, entry + 16);
  setStorage(leaf != 0);
  clearSlot(SLOT_BUFFER);
  parse(SLOT_BUFFER, depth);
  if (r != rEnd || (depth > 0 && (kindOf(SLOT_BUFFER) != BRANCH || isInline(SLOT_BUFFER)))) bad = true;
  if (!bad) {
    if (depth == 0) rootHash(SLOT_BUFFER, HASH);
    else copyWord(HASH, SLOT_BUFFER + 4);
    const expected = slot ? slot + 4 : storageRootAt(leaf);
    for (let i: usize = 0; i < 32; i += 8) if (load<u64>(HASH + i) != load<u64>(expected + i)) bad = true;
  }
  if (bad) free(SLOT_BUFFER);
  else {
    // The root of a trie is not in a row beneath another.
    if (depth > 0) setFlags(nodeOf(SLOT_BUFFER), ROW | USED);
    if (slot) memory.copy(slot, SLOT_BUFFER, 36);
    else store<u32>(leaf, load<u32>(SLOT_BUFFER), LEAF_STORAGE);
  }
  setStorage(false);
  return !bad;
}

function take(size: usize): usize {
  const at = r;
  r += size;
  if (r > rEnd) bad = true;
  return at;
}

/** Reads a node into a slot, with its reference. A row that is cut short leaves empty slots and `bad`. */
function parse(slot: usize, depth: u32): void {
  const first = load<u8>(take(1));
  const tag = first & ~HASHED;
  const hash: usize = first & HASHED ? take(32) : 0;
  if (bad || depth > 64) {
    bad = true;
    return;
  }
  if (tag == TAG_HASH) {
    const at = take(32);
    if (bad) return;
    store<u32>(slot, ABSENT);
    copyWord(slot + 4, at);
  } else if (tag == TAG_LEAF) parseLeaf(slot, depth, hash);
  else if (tag == TAG_EXTENSION) {
    const length = <u32>load<u8>(take(1));
    const nibbles = take(length);
    if (length == 0 || depth + length > 63) bad = true;
    if (bad) return;
    const extension = newExtension(length);
    setNode(slot, extension, EXTENSION);
    memory.copy(pathAt(extension), nibbles, length);
    for (let i: u32 = 0; i < length; i++) setNibble(KEY, depth + i, load<u8>(nibbles + i) & 15);
    parse(extension, depth + length);
    if (kindOf(extension) != BRANCH) bad = true;
    if (!bad) refer(slot, depth, hash);
  } else if (tag == TAG_BRANCH) {
    const mask = <u32>load<u16>(take(2));
    if (popcnt(mask) < 2 || depth > 63) bad = true;
    if (bad) return;
    const branch = newBranch(mask);
    setNode(slot, branch, BRANCH);
    for (let x: u32 = 0; x < 16 && !bad; x++) {
      if (!hasChild(branch, x)) continue;
      setNibble(KEY, depth, x);
      parse(childOf(branch, x), depth + 1);
    }
    if (!bad) refer(slot, depth, hash);
  } else bad = true;
}

/** Gives a node its reference: the hash that the row has, or one that is computed. */
function refer(slot: usize, depth: u32, hash: usize): void {
  if (hash) copyWord(slot + 4, hash);
  else seal(slot, depth);
}

function parseLeaf(slot: usize, depth: u32, hash: usize): void {
  const known = min<usize>(depth >> 1, 31);
  const rest = take(32 - known);
  if (bad) return;
  let leaf: usize;
  if (inStorage()) {
    const size = <usize>load<u8>(take(1));
    const value = take(size);
    if (bad || size > 32) {
      bad = true;
      return;
    }
    leaf = allocate(33 + size);
    store<u8>(leaf, <u8>size, 32);
    memory.copy(leaf + 33, value, size);
  } else {
    const sizes = take(3);
    if (bad) return;
    const nonce = load<u8>(sizes), balance = load<u8>(sizes, 1), flags = <u32>load<u8>(sizes, 2);
    const size = <usize>nonce + balance + 32 * popcnt(flags & 3);
    const fields = take(size);
    if (bad || nonce > 8 || balance > 32) {
      bad = true;
      return;
    }
    leaf = allocate(LEAF_FIELDS + size);
    store<u32>(leaf, flags & 2 ? ABSENT : 0, LEAF_STORAGE);
    store<u8>(leaf, nonce, 36);
    store<u8>(leaf, balance, 37);
    store<u8>(leaf, <u8>(flags & 1), 38);
    store<u8>(leaf, 0, LEAF_CHANGED);
    memory.copy(leaf + LEAF_FIELDS, fields, size);
  }
  memory.copy(leaf, KEY, known);
  memory.copy(leaf + known, rest, 32 - known);
  setNode(slot, leaf, LEAF);
  refer(slot, depth, hash);
}

// --- to rows

/**
 * Result of a flush, records for the host: size u32 of the row, 0: the row is gone | depth u8 | flags u8 (dropped.ts) | 2 unused | account key 32, of storage |
 * path, a nibble per byte, 64 | row
 */
const RECORD: usize = 104;
const OUTPUT: usize = memory.data(8, 8);
/** Room for one row: at most 48 leaves with all between them. */
const ROW_ROOM: usize = 32768;
const PATH: usize = memory.data(64, 16);
const STORAGE_PATH: usize = memory.data(64, 16);
const STORAGE: usize = memory.data(36, 16);
let outEnd: usize = 0;
let w: usize = 0;
let account: usize = 0;

export function outputAt(): usize { return load<u32>(OUTPUT); }

/** Writes all rows that changed since the last flush, and those that are gone, to outputAt; returns the size. */
export function flush(): usize {
  outEnd = 0;
  writeDropped();
  const kind = kindOf(ROOT);
  if (kind == EMPTY) endRow(beginRow(0), 0);
  else if (kind == LEAF || dirtyBranches() > 0) writeRow(ROOT, 0);
  clearDirtyCount();
  return outEnd;
}

function writeDropped(): void {
  const last = droppedAt() + droppedSize();
  for (let entry = droppedAt(); entry < last; entry += DROPPED) {
    const record = reserve(OUTPUT, outEnd + RECORD, outEnd) + outEnd;
    memory.fill(record, 0, RECORD);
    store<u8>(record, load<u8>(entry, 64), 4);
    store<u8>(record, load<u8>(entry, 65), 5);
    if (load<u8>(entry, 65) & OF_STORAGE) copyWord(record + 8, entry);
    for (let i: u32 = 0; i < 64; i++) {
      const b = load<u8>(entry + 32 + (i >> 1));
      store<u8>(record + 40 + i, i & 1 ? b & 15 : b >> 4);
    }
    outEnd += RECORD;
  }
  clearDropped();
}

@inline function path(): usize { return account ? STORAGE_PATH : PATH; }

/** Begins the record of the row at `depth` of the path; returns its offset. */
function beginRow(depth: u32): usize {
  const at = outEnd;
  const record = reserve(OUTPUT, at + RECORD + ROW_ROOM, at) + at;
  store<u8>(record, <u8>depth, 4);
  store<u8>(record, account ? <u8>OF_STORAGE : 0, 5);
  if (account) copyWord(record + 8, account);
  memory.copy(record + 40, path(), 64);
  w = record + RECORD;
  return at;
}
function endRow(at: usize, size: usize): void {
  store<u32>(load<u32>(OUTPUT) + at, <u32>size);
  outEnd = at + RECORD + size;
}

/** The topmost branch of a slot, below an extension if there is one; 0: none in memory. */
@inline function branchSlot(slot: usize): usize { return kindOf(slot) == EXTENSION ? nodeOf(slot) : slot; }
function branchOf(slot: usize): usize {
  const at = branchSlot(slot);
  return kindOf(at) == BRANCH ? nodeOf(at) : 0;
}
/** Appends the path of a slot's extension; returns the depth below it. */
function descend(slot: usize, depth: u32): u32 {
  if (kindOf(slot) != EXTENSION) return depth;
  const extension = nodeOf(slot);
  memory.copy(path() + depth, pathAt(extension), pathLength(extension));
  return depth + pathLength(extension);
}

/** Writes the changed rows below a slot that begins a row, then that row. */
function writeRow(slot: usize, depth: u32): void {
  if (kindOf(slot) == BRANCH) writeBranches(slot, depth);
  else writeBelow(slot, depth);
  if (leavesOf(slot) > manyLeaves) divide(slot, depth);
  const at = beginRow(depth);
  writeNode(slot, depth, true);
  endRow(at, w - (load<u32>(OUTPUT) + at + RECORD));
}

/** Gives the larger subtrees of a row their own rows, and writes these. */
function divide(slot: usize, depth: u32): void {
  const branch = branchOf(slot);
  const below = descend(slot, depth);
  for (let x: u32 = 0; x < 16; x++) {
    if (!hasChild(branch, x)) continue;
    const child = childOf(branch, x);
    const top = branchOf(child);
    if (top == 0 || isInline(branchSlot(child)) || flagsOf(top) & ROW || leavesOf(child) < fewLeaves) continue;
    store<u8>(path() + below, <u8>x);
    const end = descend(child, below + 1);
    setFlags(top, flagsOf(top) | ROW);
    writeRow(branchSlot(child), end);
  }
}

/** Writes what changed and is not part of the row of a slot that is in it: rows below, and those of its leaves' storage. */
function writeBelow(slot: usize, depth: u32): void {
  if (kindOf(slot) == LEAF) {
    const leaf = nodeOf(slot);
    if (!account && load<u8>(leaf, LEAF_CHANGED)) writeStorage(leaf);
    return;
  }
  const branch = branchOf(slot);
  if (branch == 0 || !(flagsOf(branch) & DIRTY)) return;
  const end = descend(slot, depth);
  const at = branchSlot(slot);
  if (flagsOf(branch) & ROW) {
    if (!isInline(at)) {
      writeRow(at, end);
      return;
    }
    // A branch so small is part of its parent's node.
    endRow(beginRow(end), 0);
    setFlags(branch, flagsOf(branch) & ~ROW);
  }
  writeBranches(at, end);
}

function writeBranches(slot: usize, depth: u32): void {
  const branch = nodeOf(slot);
  for (let x: u32 = 0; x < 16; x++) {
    if (!hasChild(branch, x)) continue;
    store<u8>(path() + depth, <u8>x);
    writeBelow(childOf(branch, x), depth + 1);
  }
}

function writeStorage(leaf: usize): void {
  account = leaf;
  setStorage(true);
  store<u32>(STORAGE, load<u32>(leaf, LEAF_STORAGE));
  if (kindOf(STORAGE) == EMPTY) endRow(beginRow(0), 0);
  else writeRow(STORAGE, 0);
  store<u8>(leaf, 0, LEAF_CHANGED);
  setStorage(false);
  account = 0;
}

/** Number of leaves of a slot in its row, in that of its own branch for a branch; enough of them to say that there are many. */
function leavesOf(slot: usize): u32 {
  const kind = kindOf(slot);
  if (kind == LEAF) return 1;
  const branch = branchOf(slot);
  if (branch == 0 || (kind == EXTENSION && flagsOf(branch) & ROW)) return 0;
  let leaves: u32 = 0;
  for (let x: u32 = 0; x < 16 && leaves <= manyLeaves; x++) {
    if (!hasChild(branch, x)) continue;
    const child = childOf(branch, x);
    const top = branchOf(child);
    if (top == 0 || !(flagsOf(top) & ROW)) leaves += leavesOf(child);
  }
  return leaves;
}

@inline function put(value: u32): void {
  store<u8>(w, <u8>value);
  w++;
}
function copy(from: usize, size: usize): void {
  memory.copy(w, from, size);
  w += size;
}

/** Writes the first byte of a node, and its hash unless the node is the row's own or part of its parent's. */
function begin(tag: u8, slot: usize, isTop: bool): void {
  if (isTop || isInline(slot)) {
    put(tag);
    return;
  }
  put(tag | HASHED);
  copy(slot + 4, 32);
}

function writeNode(slot: usize, depth: u32, isTop: bool): void {
  const kind = kindOf(slot);
  const node = nodeOf(slot);
  if (kind == LEAF) {
    begin(TAG_LEAF, slot, isTop);
    writeLeaf(node, depth);
  } else if (kind == EXTENSION) {
    begin(TAG_EXTENSION, slot, isTop);
    put(pathLength(node));
    copy(pathAt(node), pathLength(node));
    writeNode(node, depth + pathLength(node), false);
  } else if (node == 0 || (!isTop && flagsOf(node) & ROW)) {
    put(TAG_HASH);
    copy(slot + 4, 32);
  } else {
    setFlags(node, flagsOf(node) & ~DIRTY);
    begin(TAG_BRANCH, slot, isTop);
    store<u16>(w, <u16>maskOf(node));
    w += 2;
    for (let x: u32 = 0; x < 16; x++) if (hasChild(node, x)) writeNode(childOf(node, x), depth + 1, false);
  }
}

function writeLeaf(leaf: usize, depth: u32): void {
  const known = min<usize>(depth >> 1, 31);
  copy(leaf + known, 32 - known);
  if (inStorage()) {
    copy(leaf + 32, leafSize(leaf) - 32);
    return;
  }
  put(load<u8>(leaf, 36));
  put(load<u8>(leaf, 37));
  put(load<u8>(leaf, 38) | (load<u32>(leaf, LEAF_STORAGE) ? 2 : 0));
  copy(leaf + LEAF_FIELDS, leafSize(leaf) - LEAF_FIELDS);
}

// --- cache

let target: f64 = 0;
let turn: u32 = 0;

/** Frees unchanged rows until at most `bytes` of nodes are in use: first those without a recently read key and without rows below, which more keys share. */
export function trim(bytes: f64): void {
  target = bytes;
  for (let round = 0; round < 3 && usedBytes() > target; round++) trimBelow(ROOT, turn += 5, round > 0);
}

/** Returns true when a row begins at or below the slot. `from`: child to begin with, another each time. */
function trimBelow(slot: usize, from: u32, withUpper: bool): bool {
  const kind = kindOf(slot);
  const node = nodeOf(slot);
  if (kind == EXTENSION) return trimBelow(node, from, withUpper);
  if (kind == LEAF && !inStorage()) {
    store<u32>(STORAGE, load<u32>(node, LEAF_STORAGE));
    setStorage(true);
    trimBelow(STORAGE, 0, withUpper);
    setStorage(false);
  }
  if (kind != BRANCH) return false;
  if (node == 0 || usedBytes() <= target) return true;
  let isUpper = false;
  for (let i: u32 = 0; i < 16; i++) {
    const x = (i + from) & 15;
    if (hasChild(node, x) && trimBelow(childOf(node, x), from, withUpper)) isUpper = true;
  }
  if ((isUpper && !withUpper) || usedBytes() <= target) return true;
  const flags = flagsOf(node);
  setFlags(node, flags & ~USED);
  if ((flags & (ROW | USED | DIRTY)) == ROW) {
    free(slot);
    store<u32>(slot, ABSENT);
  }
  return isUpper || (flags & ROW) != 0;
}

/** Releases everything in memory below a slot, storage tries included. */
function free(slot: usize): void {
  const kind = kindOf(slot);
  const node = nodeOf(slot);
  if (kind == LEAF) {
    if (!inStorage() && load<u32>(node, LEAF_STORAGE)) {
      store<u32>(STORAGE, load<u32>(node, LEAF_STORAGE));
      setStorage(true);
      free(STORAGE);
      setStorage(false);
    }
    releaseLeaf(node);
  } else if (kind == EXTENSION) {
    free(node);
    releaseExtension(node);
  } else if (kind == BRANCH && node) {
    for (let x: u32 = 0; x < 16; x++) if (hasChild(node, x)) free(childOf(node, x));
    releaseBranch(node);
  }
}
