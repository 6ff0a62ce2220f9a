/*
 * Applies one batch to one trie: a descent over sorted entries in which each touched node is rebuilt, encoded and hashed once. An entry
 * is a pointer (8-byte aligned) to data that starts with its 32-byte key, with the operation in the low bits. The caller has dropped
 * entries that change nothing, so a deleted key always exists.
 */
import { seal } from "./encode";
import {
  BRANCH, EMPTY, EXTENSION, LEAF, ROW, childOf, clearSlot, compareKeys, copySlot, filledMask, flagsOf, kindOf, markDirty, maskOf, newBranch,
  newExtension, nibble, nodeOf, pathAt, pathLength, releaseBranch, releaseExtension, releaseLeaf, resizeBranch, setNode, sharedPath,
} from "./nodes";
import { dropRow } from "./dropped";

/** Delete the key. */
export const DELETE: u32 = 0;
/** The pointer is a leaf to insert: a new one, or an existing one that moves. */
export const PUT: u32 = 1;
const ENTRY: usize = 4;

/** Room for one more entry than the longest batch. */
let scratch: usize = 0;
export function setScratch(at: usize): void { scratch = at; }

@inline function keyOf(entry: usize): usize { return <usize>(load<u32>(entry) & ~7); }
@inline function isPut(entry: usize): bool { return (load<u32>(entry) & 1) != 0; }

/** Applies the entries lo .. hi (at least one) to the trie of a slot, `depth` nibbles down. */
export function update(slot: usize, depth: u32, lo: usize, hi: usize): void {
  const kind = kindOf(slot);
  if (kind == EMPTY) build(slot, depth, lo, hi);
  else if (kind == LEAF) updateLeaf(slot, depth, lo, hi);
  else if (kind == BRANCH) updateBranch(slot, depth, lo, hi);
  else updateExtension(slot, depth, lo, hi);
}

/** Builds a subtree from the put entries alone. */
function build(slot: usize, depth: u32, lo: usize, hi: usize): void {
  while (lo < hi && !isPut(lo)) lo += ENTRY;
  while (lo < hi && !isPut(hi - ENTRY)) hi -= ENTRY;
  if (lo == hi) {
    clearSlot(slot);
    return;
  }
  const first = keyOf(lo);
  if (hi - lo == ENTRY) {
    setNode(slot, first, LEAF);
    seal(slot, depth);
    return;
  }
  const last = keyOf(hi - ENTRY);
  let fork = depth;
  while (nibble(first, fork) == nibble(last, fork)) fork++;
  if (fork == depth) {
    buildBranch(slot, depth, lo, hi);
    return;
  }
  const extension = newExtension(fork - depth);
  for (let i = depth; i < fork; i++) store<u8>(pathAt(extension) + (i - depth), <u8>nibble(first, i));
  buildBranch(extension, fork, lo, hi);
  setNode(slot, extension, EXTENSION);
  seal(slot, depth);
}

function buildBranch(slot: usize, depth: u32, lo: usize, hi: usize): void {
  const branch = newBranch(putMask(depth, lo, hi));
  markDirty(branch);
  while (lo < hi) {
    if (!isPut(lo)) {
      lo += ENTRY;
      continue;
    }
    const x = nibble(keyOf(lo), depth);
    const end = groupEnd(x, depth, lo, hi);
    build(childOf(branch, x), depth + 1, lo, end);
    lo = end;
  }
  setNode(slot, branch, BRANCH);
  seal(slot, depth);
}

/** Mask of the nibbles at `depth` of the put entries. */
function putMask(depth: u32, lo: usize, hi: usize): u32 {
  let mask: u32 = 0;
  for (; lo < hi; lo += ENTRY) if (isPut(lo)) mask |= 1 << nibble(keyOf(lo), depth);
  return mask;
}

@inline function groupEnd(x: u32, depth: u32, lo: usize, hi: usize): usize {
  while (lo < hi && nibble(keyOf(lo), depth) == x) lo += ENTRY;
  return lo;
}

function updateLeaf(slot: usize, depth: u32, lo: usize, hi: usize): void {
  const leaf = nodeOf(slot);
  let at = lo;
  let order = 1;
  while (at < hi && (order = compareKeys(keyOf(at), leaf)) < 0) at += ENTRY;
  if (at < hi && order == 0) {
    releaseLeaf(leaf);
    build(slot, depth, lo, hi);
    return;
  }
  // The old leaf is inserted among the new ones. Nothing below needs the scratch, since build merges nothing.
  const before = at - lo;
  memory.copy(scratch, lo, before);
  store<u32>(scratch + before, <u32>leaf | PUT);
  memory.copy(scratch + before + ENTRY, at, hi - at);
  build(slot, depth, scratch, scratch + (hi - lo) + ENTRY);
}

function updateBranch(slot: usize, depth: u32, lo: usize, hi: usize): void {
  let branch = nodeOf(slot);
  const key = keyOf(lo);
  markDirty(branch);
  const wanted = maskOf(branch) | putMask(depth, lo, hi);
  if (wanted != maskOf(branch)) branch = resizeBranch(branch, wanted);
  while (lo < hi) {
    const x = nibble(keyOf(lo), depth);
    const end = groupEnd(x, depth, lo, hi);
    update(childOf(branch, x), depth + 1, lo, end);
    lo = end;
  }
  const filled = filledMask(branch);
  if (popcnt(filled) > 1) {
    if (filled != wanted) branch = resizeBranch(branch, filled);
    setNode(slot, branch, BRANCH);
    seal(slot, depth);
    return;
  }
  if (filled == 0) clearSlot(slot);
  else collapse(slot, branch, ctz(filled), depth);
  if (flagsOf(branch) & ROW) dropRow(key, depth);
  releaseBranch(branch);
}

/** Merges a branch with one child left into that child's path. */
function collapse(slot: usize, branch: usize, x: u32, depth: u32): void {
  const child = childOf(branch, x);
  const kind = kindOf(child);
  if (kind == LEAF) {
    setNode(slot, nodeOf(child), LEAF);
    seal(slot, depth);
    return;
  }
  const below = kind == EXTENSION ? nodeOf(child) : 0;
  const length = below ? pathLength(below) : 0;
  const extension = newExtension(1 + length);
  store<u8>(pathAt(extension), <u8>x);
  if (below) {
    memory.copy(pathAt(extension) + 1, pathAt(below), length);
    copySlot(extension, below);
    releaseExtension(below);
  } else copySlot(extension, child);
  setNode(slot, extension, EXTENSION);
  seal(slot, depth);
}

function updateExtension(slot: usize, depth: u32, lo: usize, hi: usize): void {
  const extension = nodeOf(slot);
  const length = pathLength(extension);
  // Keys between two that share a prefix share it too.
  const shared = min(sharedPath(extension, keyOf(lo), depth), sharedPath(extension, keyOf(hi - ENTRY), depth));
  if (shared == length) {
    update(extension, depth + length, lo, hi);
    settle(slot, extension, depth);
    return;
  }
  const branch = splitExtension(extension, shared, depth);
  if (shared == 0) {
    setNode(slot, branch, BRANCH);
    updateBranch(slot, depth, lo, hi);
  } else {
    const head = newExtension(shared);
    memory.copy(pathAt(head), pathAt(extension), shared);
    setNode(head, branch, BRANCH);
    updateBranch(head, depth + shared, lo, hi);
    settle(slot, head, depth);
  }
  releaseExtension(extension);
}

/** Returns a branch at the fork of an extension's path (unchanged), with the rest after the fork as its only child. */
function splitExtension(extension: usize, fork: u32, depth: u32): usize {
  const path = pathAt(extension);
  const rest = pathLength(extension) - fork - 1;
  const x = <u32>load<u8>(path + fork);
  const branch = newBranch(1 << x);
  const child = childOf(branch, x);
  if (rest == 0) {
    copySlot(child, extension);
    return branch;
  }
  const tail = newExtension(rest);
  memory.copy(pathAt(tail), path + fork + 1, rest);
  copySlot(tail, extension);
  setNode(child, tail, EXTENSION);
  seal(child, depth + fork + 1);
  return branch;
}

/** Gives the slot a valid node after the child of an extension changed. */
function settle(slot: usize, extension: usize, depth: u32): void {
  const kind = kindOf(extension);
  const child = nodeOf(extension);
  if (kind == BRANCH) setNode(slot, extension, EXTENSION);
  else if (kind == EXTENSION) setNode(slot, joined(extension, child), EXTENSION);
  else {
    if (kind == LEAF) setNode(slot, child, LEAF);
    else clearSlot(slot);
    releaseExtension(extension);
    if (kind == EMPTY) return;
  }
  seal(slot, depth);
}

function joined(upper: usize, lower: usize): usize {
  const length = pathLength(upper);
  const extension = newExtension(length + pathLength(lower));
  memory.copy(pathAt(extension), pathAt(upper), length);
  memory.copy(pathAt(extension) + length, pathAt(lower), pathLength(lower));
  copySlot(extension, lower);
  releaseExtension(upper);
  releaseExtension(lower);
  return extension;
}
