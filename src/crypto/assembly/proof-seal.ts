/* Module of crypto/proof-seal.ts: the cheap check of a proof header in one call on what JavaScript wrote, without allocation. */
import { keccak256 } from "./keccak";
import { sha256 } from "./sha256";

/** More than the largest encoding of the sealed fields (233 bytes). */
export const SEALED_BYTES: usize = 320;
export const SEALED: usize = memory.data(320, 16);
/** Seal hash (32 bytes), nonce (8), mix hash (32): contiguous, since they are hashed together. */
const SEAL: usize = memory.data(72, 16);
export const NONCE: usize = SEAL + 32;
export const MIX: usize = NONCE + 8;
export const TARGET: usize = memory.data(32, 16);
export const HASH: usize = memory.data(32, 16);

/** Computes the hash over the first `size` sealed bytes; true when it meets the target. */
export function meetsTarget(version: i32, size: usize, mixSize: usize): bool {
  keccak256(SEALED, size, SEAL);
  if (version == 1) {
    sha256(SEAL, 40, HASH);
    sha256(HASH, 32, HASH);
  } else {
    keccak256(SEAL, 40 + mixSize, HASH);
  }
  for (let i: usize = 0; i < 32; i += 8) {
    const have = bswap<u64>(load<u64>(HASH + i));
    const want = bswap<u64>(load<u64>(TARGET + i));
    if (have != want) return have < want;
  }
  return true;
}
