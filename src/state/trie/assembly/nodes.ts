/*
 * Nodes, all in the arena of memory.ts:
 *   slot (36): node pointer with its kind in the two low bits and "inline" in the third | 32 bytes: the hash, or the encoding if shorter than that
 *   branch:    mask u16 of the children that are there | flags u16 | a slot per child, in order; no value, for all keys have 32 bytes
 *   extension: slot of the child (always a branch) | count u8 | one nibble per byte
 *   leaf of a storage trie: key 32 | size u8 | value without leading zeros
 *   leaf of the account trie: key 32 | storage trie (pointer as in a slot) u32 | nonce size u8 | balance size u8 | has code u8 | storage changed u8 |
 *     nonce | balance | code hash if any | storage root if any
 * A slot of kind branch without a pointer, ABSENT, is a branch that stands in a row of its own (rows.ts) and is not in memory; in place of a
 * storage trie it is the root of whatever kind.
 */
import { allocate, release } from "./memory";

export const EMPTY: u32 = 0;
export const LEAF: u32 = 1;
export const BRANCH: u32 = 2;
export const EXTENSION: u32 = 3;
export const INLINE: u32 = 4;
export const ABSENT: u32 = BRANCH;

/** Flags of a branch: it has a row of its own; it changed since its row was written; a key was looked up through it since the last trim. */
export const ROW: u32 = 1;
export const DIRTY: u32 = 2;
export const USED: u32 = 4;

export const SLOT: usize = 36;
const CHILDREN: usize = 4;
export const LEAF_STORAGE: usize = 32;
/** Byte of an account's leaf: 1 when its storage changed since its rows were written. */
export const LEAF_CHANGED: usize = 39;
export const LEAF_FIELDS: usize = 40;

/** Kind of leaf of the current trie. */
let storageLeaves: bool = false;
export function inStorage(): bool { return storageLeaves; }
export function setStorage(on: bool): void { storageLeaves = on; }

@inline export function kindOf(slot: usize): u32 { return load<u32>(slot) & 3; }
@inline export function nodeOf(slot: usize): usize { return <usize>(load<u32>(slot) & ~7); }
@inline export function isInline(slot: usize): bool { return (load<u32>(slot) & INLINE) != 0; }
@inline export function setNode(slot: usize, node: usize, kind: u32): void { store<u32>(slot, <u32>node | kind); }
@inline export function clearSlot(slot: usize): void { store<u32>(slot, 0); }
@inline export function copySlot(to: usize, from: usize): void { memory.copy(to, from, SLOT); }

@inline export function nibble(key: usize, i: u32): u32 {
  const byte = <u32>load<u8>(key + (i >> 1));
  return i & 1 ? byte & 15 : byte >> 4;
}

/** Compares two 32-byte keys: negative, 0, positive. */
export function compareKeys(a: usize, b: usize): i32 {
  for (let i: usize = 0; i < 32; i += 8) {
    const x = bswap<u64>(load<u64>(a + i));
    const y = bswap<u64>(load<u64>(b + i));
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

@inline export function copyWord(to: usize, from: usize): void {
  v128.store(to, v128.load(from));
  v128.store(to, v128.load(from, 16), 16);
}

// --- branches

/** Branches changed since the last flush. */
let dirty: u32 = 0;
export function dirtyBranches(): u32 { return dirty; }
export function clearDirtyCount(): void { dirty = 0; }

@inline export function flagsOf(branch: usize): u32 { return load<u16>(branch, 2); }
@inline export function setFlags(branch: usize, flags: u32): void { store<u16>(branch, <u16>flags, 2); }

export function markDirty(branch: usize): void {
  const flags = flagsOf(branch);
  if (flags & DIRTY) return;
  setFlags(branch, flags | DIRTY);
  dirty++;
}

@inline export function maskOf(branch: usize): u32 { return load<u16>(branch); }
@inline function branchSize(mask: u32): usize { return CHILDREN + <usize>popcnt<u32>(mask) * SLOT; }
@inline export function childOf(branch: usize, x: u32): usize {
  return branch + CHILDREN + <usize>popcnt<u32>(maskOf(branch) & ((1 << x) - 1)) * SLOT;
}
@inline export function hasChild(branch: usize, x: u32): bool { return ((maskOf(branch) >> x) & 1) != 0; }

/** Returns a branch whose children are all empty. */
export function newBranch(mask: u32): usize {
  const branch = allocate(branchSize(mask));
  memory.fill(branch, 0, branchSize(mask));
  store<u16>(branch, <u16>mask);
  return branch;
}
export function releaseBranch(branch: usize): void { release(branch, branchSize(maskOf(branch))); }

/** Returns the branch with places for the children of another mask: common children are moved, the old branch is released. */
export function resizeBranch(branch: usize, mask: u32): usize {
  const old = maskOf(branch);
  const resized = newBranch(mask);
  setFlags(resized, flagsOf(branch));
  let from = branch + CHILDREN;
  let to = resized + CHILDREN;
  for (let x: u32 = 0; x < 16; x++) {
    const bit: u32 = 1 << x;
    if (old & mask & bit) copySlot(to, from);
    if (old & bit) from += SLOT;
    if (mask & bit) to += SLOT;
  }
  releaseBranch(branch);
  return resized;
}

/** Mask of the existing children, of those the branch has places for. */
export function filledMask(branch: usize): u32 {
  const mask = maskOf(branch);
  let filled: u32 = 0;
  let child = branch + CHILDREN;
  for (let rest = mask; rest; rest &= rest - 1) {
    if (kindOf(child)) filled |= rest & -rest;
    child += SLOT;
  }
  return filled;
}

// --- extensions

@inline export function pathLength(extension: usize): u32 { return load<u8>(extension, 36); }
@inline export function pathAt(extension: usize): usize { return extension + 37; }

export function newExtension(length: u32): usize {
  const extension = allocate(37 + length);
  clearSlot(extension);
  store<u8>(extension, <u8>length, 36);
  return extension;
}
export function releaseExtension(extension: usize): void { release(extension, 37 + pathLength(extension)); }

// --- leaves

export function leafSize(leaf: usize): usize {
  if (storageLeaves) return 33 + <usize>load<u8>(leaf, 32);
  const words = <usize>load<u8>(leaf, 38) + <usize>(load<u32>(leaf, LEAF_STORAGE) != 0);
  return LEAF_FIELDS + <usize>load<u8>(leaf, 36) + <usize>load<u8>(leaf, 37) + 32 * words;
}
export function releaseLeaf(leaf: usize): void { release(leaf, leafSize(leaf)); }

export function codeHashAt(leaf: usize): usize { return leaf + LEAF_FIELDS + load<u8>(leaf, 36) + load<u8>(leaf, 37); }
export function storageRootAt(leaf: usize): usize { return codeHashAt(leaf) + 32 * <usize>load<u8>(leaf, 38); }

/** Number of bytes of a big-endian number without its leading zeros. */
export function significant(at: usize, size: u32): u32 {
  while (size > 0 && load<u8>(at) == 0) { at++; size--; }
  return size;
}

/** Returns a leaf of a storage trie for a value that is not zero. */
export function newSlotLeaf(key: usize, value: usize): usize {
  const size = significant(value, 32);
  const leaf = allocate(33 + size);
  copyWord(leaf, key);
  store<u8>(leaf, <u8>size, 32);
  memory.copy(leaf + 33, value + 32 - size, size);
  return leaf;
}

/** Result of `find` when the key leads to an absent branch, with its slot and depth. */
export const MISSING: usize = 1;
export let missingSlot: usize = 0;
export let missingDepth: u32 = 0;

/** Returns the leaf under a key in the trie of a slot, or 0, or MISSING. */
export function find(slot: usize, key: usize): usize {
  let depth: u32 = 0;
  while (true) {
    const kind = kindOf(slot);
    const node = nodeOf(slot);
    if (kind == LEAF) return compareKeys(node, key) == 0 ? node : 0;
    if (kind == BRANCH) {
      if (node == 0) {
        missingSlot = slot;
        missingDepth = depth;
        return MISSING;
      }
      setFlags(node, flagsOf(node) | USED);
      const x = nibble(key, depth);
      if (!hasChild(node, x)) return 0;
      slot = childOf(node, x);
      depth++;
    } else if (kind == EXTENSION) {
      if (!onPath(node, key, depth)) return 0;
      depth += pathLength(node);
      slot = node;
    } else return 0;
  }
}

/** True when the key continues, from `depth`, along the whole path of an extension. */
export function onPath(extension: usize, key: usize, depth: u32): bool {
  return sharedPath(extension, key, depth) == pathLength(extension);
}

/** Number of nibbles of an extension's path that the key shares from `depth`. */
export function sharedPath(extension: usize, key: usize, depth: u32): u32 {
  const length = pathLength(extension);
  const path = pathAt(extension);
  let i: u32 = 0;
  while (i < length && nibble(key, depth + i) == <u32>load<u8>(path + i)) i++;
  return i;
}
