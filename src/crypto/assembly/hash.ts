/* Module of crypto/hash.ts: keccak over a fixed window of memory that JavaScript fills. */
import { absorb as absorbAt, finish as finishAt, keccak256, reset } from "./keccak";

export { reset };

/** A multiple of the rate (136), so that a long input arrives in whole blocks. */
export const WINDOW_BYTES: usize = 136 * 240;
export const WINDOW: usize = memory.data(32640, 16);
export const HASH: usize = memory.data(32, 16);

/** keccak256 of the first `size` bytes of the window. */
export function hash(size: usize): void { keccak256(WINDOW, size, HASH); }
/** Absorbs the whole window as the next part of a long input. */
export function absorb(): void { absorbAt(WINDOW, WINDOW_BYTES); }
/** Absorbs the last part of a long input, shorter than the window. */
export function finish(size: usize): void {
  const whole = size - (size % 136);
  absorbAt(WINDOW, whole);
  finishAt(WINDOW + whole, size - whole, HASH);
}
