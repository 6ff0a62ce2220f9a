/*
 * Memory of the trie. Linear memory is claimed upward and never returned; claimed memory becomes either chunks of the node arena or
 * scratch regions. Nodes come in size classes of 8 bytes with a free list each, so a freed node is reused by the next node of its size and
 * memory stays at the sum of each class's peak under any load.
 */
const MAX_NODE: usize = 640;
const CHUNK: usize = 256 * 1024;
const GROW_PAGES: i32 = 16;

/** Heads of the free lists by size / 8; a free node stores the next one in its first word. */
const FREE: usize = memory.data((640 / 8 + 1) * 4, 16);
/** Outgrown scratch regions waiting to become chunks: next u32, size u32. */
let donated: usize = 0;
let top: usize = (__heap_base + 15) & ~15;
let chunkAt: usize = 0;
let chunkEnd: usize = 0;
let used: f64 = 0;
let free: f64 = 0;

export function usedBytes(): f64 { return used; }
export function freeBytes(): f64 { return free; }
export function memoryBytes(): f64 { return <f64>memory.size() * 65536; }

/** Claims fresh memory, 16-byte aligned. Traps when 4 GiB are not enough: the trie cannot continue. */
function claim(size: usize): usize {
  const at = top;
  const end = <u64>at + <u64>((size + 15) & ~15);
  if (end > 0xffff0000) unreachable();
  const have = <u64>memory.size() << 16;
  if (end > have) {
    const need = <i32>((end - have + 0xffff) >> 16);
    const step = max(need, max(GROW_PAGES, memory.size() >> 3));
    if (memory.grow(step) < 0 && memory.grow(need) < 0) unreachable();
  }
  top = <usize>end;
  return at;
}

function nextChunk(): void {
  const rest = chunkEnd - chunkAt;
  if (rest >= 8) {
    free += <f64>rest;
    push(chunkAt, rest);
  }
  if (donated) {
    chunkAt = donated;
    chunkEnd = donated + load<u32>(donated, 4);
    donated = load<u32>(donated);
  } else {
    chunkAt = claim(CHUNK);
    chunkEnd = chunkAt + CHUNK;
  }
}

@inline function push(node: usize, bytes: usize): void {
  const head = FREE + (bytes >> 1);
  store<u32>(node, load<u32>(head));
  store<u32>(head, <u32>node);
}

/** Returns memory for a node, not cleared, 8-byte aligned. */
export function allocate(size: usize): usize {
  const bytes = (size + 7) & ~7;
  used += <f64>bytes;
  const head = FREE + (bytes >> 1);
  const node: usize = load<u32>(head);
  if (node) {
    store<u32>(head, load<u32>(node));
    free -= <f64>bytes;
    return node;
  }
  if (chunkEnd - chunkAt < bytes) nextChunk();
  const at = chunkAt;
  chunkAt += bytes;
  return at;
}

/** Frees a node; `size` is its allocated size. */
export function release(node: usize, size: usize): void {
  const bytes = (size + 7) & ~7;
  used -= <f64>bytes;
  free += <f64>bytes;
  push(node, bytes);
}

/**
 * Scratch region: a cell of base u32 and capacity u32. Grows it to at least `size` bytes, keeping the first `keep`; returns its address.
 * Outgrown memory goes to the node arena.
 */
export function reserve(cell: usize, size: usize, keep: usize): usize {
  const base: usize = load<u32>(cell);
  const capacity: usize = load<u32>(cell, 4);
  if (size <= capacity) return base;
  const larger = max(max(size, capacity * 2), 65536);
  const at = claim(larger);
  memory.copy(at, base, keep);
  store<u32>(cell, <u32>at);
  store<u32>(cell, <u32>((larger + 15) & ~15), 4);
  if (capacity) {
    store<u32>(base, <u32>donated);
    store<u32>(base, <u32>capacity, 4);
    donated = base;
  }
  return at;
}
