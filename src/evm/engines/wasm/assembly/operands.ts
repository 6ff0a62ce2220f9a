/* Words from code and call data, and the smallest operations of the interpreter's loop. */
import { clear, swapBytes } from "./word";

/** Masks that keep the lowest 0 to 32 bytes of a word. */
const MASKS: usize = memory.data(33 * 32, 16);
const WORD: usize = memory.data(64, 16);
for (let n = 0; n <= 32; n++) memory.fill(MASKS + n * 32, 0xff, n);

@inline export function swap(a: usize, b: usize): void {
  const low = v128.load(a), high = v128.load(a, 16);
  v128.store(a, v128.load(b));
  v128.store(a, v128.load(b, 16), 16);
  v128.store(b, low);
  v128.store(b, high, 16);
}
/** Adds a small number to a word. */
@inline export function addSmall(at: usize, value: u64): void {
  const low = load<u64>(at) + value;
  store<u64>(at, low);
  if (low >= value) return;
  const second = load<u64>(at, 8) + 1;
  store<u64>(at, second, 8);
  if (second) return;
  const third = load<u64>(at, 16) + 1;
  store<u64>(at, third, 16);
  if (third == 0) store<u64>(at, load<u64>(at, 24) + 1, 24);
}
/** Reads the `count` bytes at `from` as a word: 32 bytes that end with them, reversed and masked. */
@inline export function pushBytes(to: usize, from: usize, count: usize): void {
  swapBytes(to, from + count - 32);
  const mask = MASKS + (count << 5);
  v128.store(to, v128.and(v128.load(to), v128.load(mask)));
  v128.store(to, v128.and(v128.load(to, 16), v128.load(mask, 16)), 16);
}
@inline export function isDestination(jumps: usize, at: u64): bool {
  return ((load<u8>(jumps + <usize>(at >> 3)) >> (<u8>at & 7)) & 1) != 0;
}
export function loadInput(to: usize, input: usize, size: usize, at: u64): void {
  if (at >= <u64>size) return clear(to);
  const from = input + <usize>at, there = <u64>size - at;
  if (there >= 32) return swapBytes(to, from);
  clear(WORD);
  memory.copy(WORD, from, <usize>there);
  swapBytes(to, WORD);
}
