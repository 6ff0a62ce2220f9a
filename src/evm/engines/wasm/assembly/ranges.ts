/* Short ranges of memory. A bulk operation of WebAssembly is a call of the runtime, which takes as long as a few hundred bytes here. */
import { clear, copy } from "./word";

/** Longest range that a loop does faster. */
const SHORT: usize = 512;

/** Copies between ranges that do not overlap. */
export function copyApart(to: usize, from: usize, size: usize): void {
  if (size > SHORT || size < 16) return memory.copy(to, from, size);
  const last = size - 16;
  for (let at: usize = 0; at < last; at += 16) v128.store(to + at, v128.load(from + at));
  v128.store(to + last, v128.load(from + last));
}

/** Copies whole words. */
@inline export function copyWords(to: usize, from: usize, size: usize): void {
  for (let at: usize = 0; at < size; at += 32) copy(to + at, from + at);
}

/** Sets whole words to zero. */
export function clearWords(from: usize, size: usize): void {
  if (size > SHORT) return memory.fill(from, 0, size);
  for (let at: usize = 0; at < size; at += 32) clear(from + at);
}
