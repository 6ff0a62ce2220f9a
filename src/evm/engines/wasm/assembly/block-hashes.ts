/* BLOCKHASH. */
import { clear, copy, toSize } from "./word";
import { NUMBER } from "./environment";
import { frame } from "./frames";
import { needed, needs } from "./status";
import { forgetRepeat } from "./steps";
import { GAS, GOES_ON, NEEDS_BLOCK_HASH, PC, SP } from "./layout";

/** Hashes of the last 256 blocks that the message has read: the hash, then the block's number and one. */
const HASH_ENTRY: usize = 40;
const BLOCK_HASHES: usize = memory.data(256 * 40, 16);
export function forgetBlockHashes(): void { memory.fill(BLOCK_HASHES, 0, 256 * HASH_ENTRY); }

/** Response to NEEDS_BLOCK_HASH: replaces the number, and the opcode is done. */
export function provideBlockHash(word: usize): void {
  if (STEPS) forgetRepeat();
  const known = BLOCK_HASHES + <usize>(needed & 255) * HASH_ENTRY;
  copy(known, word);
  store<u64>(known, needed + 1, 32);
  copy(<usize>load<u32>(frame, SP) - 32, word);
  store<u32>(frame, load<u32>(frame, PC) + 1, PC);
  store<i64>(frame, load<i64>(frame, GAS) - 20, GAS);
}

/** Replaces the number at `top` by the block's hash. */
@inline export function blockHash(top: usize): i32 {
  const number = toSize(top), current = load<u64>(NUMBER);
  if (number >= current || current - number > 256) {
    clear(top);
    return GOES_ON;
  }
  const known = BLOCK_HASHES + <usize>(number & 255) * HASH_ENTRY;
  if (load<u64>(known, 32) != number + 1) return needs(NEEDS_BLOCK_HASH, number);
  copy(top, known);
  return GOES_ON;
}
