/* Merkle proofs (EIP-1186): encoded nodes on the way to a key, root first; those below 32 bytes are embedded in parents. */
import { encode, encodedAt, rootHash, EMPTY_ROOT } from "./encode";
import { reserve } from "./memory";
import { addMissing, beginMissing, missingCount } from "./missing";
import {
  BRANCH, EXTENSION, LEAF, LEAF_STORAGE, MISSING, childOf, compareKeys, copyWord, find, hasChild, kindOf, nibble, nodeOf, onPath, pathLength, setStorage,
  storageRootAt,
} from "./nodes";
import { readFields, readValue } from "./records";
import { ROOT } from "./apply";

/** Input: account key, slot key. */
const KEYS: usize = memory.data(64, 16);
/** Output: an account record (records.ts) followed by the storage root; or a slot's value. */
const FOUND: usize = memory.data(160, 16);
const NODES: usize = memory.data(8, 8);
const STORAGE: usize = memory.data(36, 16);
let end: usize = 0;

export function keysAt(): usize { return KEYS; }
export function foundAt(): usize { return FOUND; }
/** Nodes of the last proof: each a size u32 and the bytes. */
export function nodesAt(): usize { return load<u32>(NODES); }
export function nodesSize(): usize { return end; }

/** Looks for the rows on the way to the account key, and with `withSlot` on to the slot key; returns how many are missing: 0 or 1. */
export function locate(withSlot: bool): u32 {
  beginMissing();
  const account = find(ROOT, KEYS);
  if (account == MISSING) addMissing(KEYS, 0, 0);
  else if (account != 0 && withSlot) {
    store<u32>(STORAGE, load<u32>(account, LEAF_STORAGE));
    if (find(STORAGE, KEYS + 32) == MISSING) addMissing(KEYS + 32, account, STORAGE);
  }
  return missingCount();
}

/** Proves the account key; returns true when it exists, with its fields at foundAt. */
export function proveAccount(): bool {
  setStorage(false);
  const leaf = walk(ROOT, KEYS);
  if (leaf == 0) return false;
  readFields(leaf, FOUND);
  copyWord(FOUND + 120, load<u32>(leaf, LEAF_STORAGE) ? storageRootAt(leaf) : EMPTY_ROOT);
  return true;
}

/** Proves the slot key in the storage of the account key; returns true when it exists, with its value at foundAt. */
export function proveSlot(): bool {
  end = 0;
  const account = find(ROOT, KEYS);
  if (account == 0) return false;
  store<u32>(STORAGE, load<u32>(account, LEAF_STORAGE));
  setStorage(true);
  const leaf = walk(STORAGE, KEYS + 32);
  if (leaf != 0) readValue(leaf, FOUND);
  setStorage(false);
  return leaf != 0;
}

export function root(out: usize): void { rootHash(ROOT, out); }

function walk(slot: usize, key: usize): usize {
  end = 0;
  let depth: u32 = 0;
  while (kindOf(slot)) {
    const size = encode(slot, depth);
    if (size >= 32 || depth == 0) append(size);
    const node = nodeOf(slot);
    const kind = kindOf(slot);
    if (kind == LEAF) return compareKeys(node, key) == 0 ? node : 0;
    if (kind == BRANCH) {
      const x = nibble(key, depth);
      if (!hasChild(node, x)) return 0;
      slot = childOf(node, x);
      depth++;
    } else {
      if (!onPath(node, key, depth)) return 0;
      depth += pathLength(node);
      slot = node;
    }
  }
  return 0;
}

function append(size: u32): void {
  const base = reserve(NODES, end + 4 + size, end);
  store<u32>(base + end, size);
  memory.copy(base + end + 4, encodedAt(), size);
  end += 4 + size;
}
