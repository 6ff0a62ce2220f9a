/* RLP of nodes (yellow paper, B to D) and the reference in a node's parent: its keccak256, or an encoding below 32 bytes. */
import { keccak256 } from "../../../crypto/assembly/keccak";
import {
  BRANCH, EMPTY, INLINE, LEAF, LEAF_FIELDS, LEAF_STORAGE, childOf, codeHashAt, copyWord, inStorage, isInline, kindOf, maskOf, nibble, nodeOf,
  pathAt, pathLength, storageRootAt,
} from "./nodes";

/** Buffer for a node's encoding: a full branch has 532 bytes. */
const ENCODED: usize = memory.data(1024, 16);
/** Buffer for a compact path: at most 33 bytes. */
const PATH: usize = memory.data(48, 16);
export const EMPTY_ROOT: usize = memory.data<u8>([
  0x56, 0xe8, 0x1f, 0x17, 0x1b, 0xcc, 0x55, 0xa6, 0xff, 0x83, 0x45, 0xe6, 0x92, 0xc0, 0xf8, 0x6e,
  0x5b, 0x48, 0xe0, 0x1b, 0x99, 0x6c, 0xad, 0xc0, 0x01, 0x62, 0x2f, 0xb5, 0xe3, 0x63, 0xb4, 0x21,
], 16);
export const EMPTY_CODE: usize = memory.data<u8>([
  0xc5, 0xd2, 0x46, 0x01, 0x86, 0xf7, 0x23, 0x3c, 0x92, 0x7e, 0x7d, 0xb2, 0xdc, 0xc7, 0x03, 0xc0,
  0xe5, 0x00, 0xb6, 0x53, 0xca, 0x82, 0x27, 0x3b, 0x7b, 0xfa, 0xd8, 0x04, 0x5d, 0x85, 0xa4, 0x70,
], 16);

let w: usize = 0;

export function encodedAt(): usize { return ENCODED; }

@inline function byte(value: u32): void {
  store<u8>(w, <u8>value);
  w++;
}

function header(size: u32, base: u32): void {
  if (size < 56) byte(base + size);
  else if (size < 256) {
    byte(base + 56);
    byte(size);
  } else {
    byte(base + 57);
    byte(size >> 8);
    byte(size);
  }
}

@inline function headerSize(size: u32): u32 { return size < 56 ? 1 : size < 256 ? 2 : 3; }

function stringSize(at: usize, size: u32): u32 {
  return size == 1 && load<u8>(at) < 0x80 ? 1 : headerSize(size) + size;
}

function string(at: usize, size: u32): void {
  if (size != 1 || load<u8>(at) >= 0x80) header(size, 0x80);
  memory.copy(w, at, size);
  w += size;
}

function word(at: usize): void {
  byte(0xa0);
  copyWord(w, at);
  w += 32;
}

/** Writes the rest of a key from `depth`, compact, to PATH; returns its size. */
function leafPath(key: usize, depth: u32): u32 {
  const odd = depth & 1;
  store<u8>(PATH, <u8>(odd ? 0x30 | nibble(key, depth) : 0x20));
  const from = (depth + odd) >> 1;
  memory.copy(PATH + 1, key + from, 32 - from);
  return 33 - from;
}

function extensionPath(extension: usize): u32 {
  const length = pathLength(extension);
  const nibbles = pathAt(extension);
  const odd = length & 1;
  store<u8>(PATH, odd ? 0x10 | load<u8>(nibbles) : 0);
  let size: u32 = 1;
  for (let i = odd; i < length; i += 2) {
    store<u8>(PATH + size, (load<u8>(nibbles + i) << 4) | load<u8>(nibbles + i + 1));
    size++;
  }
  return size;
}

function encodeSlotLeaf(leaf: usize, depth: u32): void {
  const path = leafPath(leaf, depth);
  const size = <u32>load<u8>(leaf, 32);
  const value = stringSize(leaf + 33, size);
  // The value is RLP inside a string of the node; one byte below 0x80 encodes as itself at both levels.
  const wrapped = value == 1 ? 1 : value + 1;
  header(stringSize(PATH, path) + wrapped, 0xc0);
  string(PATH, path);
  if (value > 1) header(value, 0x80);
  string(leaf + 33, size);
}

function encodeAccountLeaf(leaf: usize, depth: u32): void {
  const path = leafPath(leaf, depth);
  const nonce = leaf + LEAF_FIELDS;
  const nonceSize = <u32>load<u8>(leaf, 36);
  const balance = nonce + nonceSize;
  const balanceSize = <u32>load<u8>(leaf, 37);
  const fields = stringSize(nonce, nonceSize) + stringSize(balance, balanceSize) + 66;
  const account = headerSize(fields) + fields;
  header(stringSize(PATH, path) + headerSize(account) + account, 0xc0);
  string(PATH, path);
  header(account, 0x80);
  header(fields, 0xc0);
  string(nonce, nonceSize);
  string(balance, balanceSize);
  word(load<u32>(leaf, LEAF_STORAGE) ? storageRootAt(leaf) : EMPTY_ROOT);
  word(load<u8>(leaf, 38) ? codeHashAt(leaf) : EMPTY_CODE);
}

@inline function referenceSize(slot: usize): u32 {
  return isInline(slot) ? <u32>load<u8>(slot, 4) - 0xc0 + 1 : 33;
}

function reference(slot: usize): void {
  if (!isInline(slot)) {
    word(slot + 4);
    return;
  }
  const size = referenceSize(slot);
  memory.copy(w, slot + 4, size);
  w += size;
}

function encodeBranch(branch: usize): void {
  const mask = maskOf(branch);
  let payload: u32 = 17 - popcnt(mask);
  for (let x: u32 = 0; x < 16; x++) if ((mask >> x) & 1) payload += referenceSize(childOf(branch, x));
  header(payload, 0xc0);
  let child = childOf(branch, 0);
  for (let x: u32 = 0; x < 16; x++) {
    if ((mask >> x) & 1) {
      reference(child);
      child += 36;
    } else byte(0x80);
  }
  byte(0x80);
}

function encodeExtension(extension: usize): void {
  const path = extensionPath(extension);
  header(stringSize(PATH, path) + referenceSize(extension), 0xc0);
  string(PATH, path);
  reference(extension);
}

/** Encodes a slot's node, whose children have references, at encodedAt; returns the size. `depth`: nibbles above it. */
export function encode(slot: usize, depth: u32): u32 {
  w = ENCODED;
  const kind = kindOf(slot);
  const node = nodeOf(slot);
  if (kind == LEAF) {
    if (inStorage()) encodeSlotLeaf(node, depth);
    else encodeAccountLeaf(node, depth);
  } else if (kind == BRANCH) encodeBranch(node);
  else encodeExtension(node);
  return <u32>(w - ENCODED);
}

/** Encodes the node of a slot and stores its reference in the slot. */
export function seal(slot: usize, depth: u32): void {
  const size = encode(slot, depth);
  if (size < 32) {
    memory.copy(slot + 4, ENCODED, size);
    store<u32>(slot, load<u32>(slot) | INLINE);
  } else {
    keccak256(ENCODED, size, slot + 4);
    store<u32>(slot, load<u32>(slot) & ~INLINE);
  }
}

/** Root hash of the trie of a slot: a root is hashed whatever its size. */
export function rootHash(slot: usize, out: usize): void {
  if (kindOf(slot) == EMPTY) copyWord(out, EMPTY_ROOT);
  else if (isInline(slot)) keccak256(slot + 4, referenceSize(slot), out);
  else copyWord(out, slot + 4);
}
