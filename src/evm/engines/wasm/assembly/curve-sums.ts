/* Sums of points of bn254 (EIP-196), by the code of crypto/assembly/bn254. */
import * as fp from "../../../../crypto/assembly/bn254/field";
import * as g1 from "../../../../crypto/assembly/bn254/g1";
import { B, G1_SIZE, INPUT, ONE, R_SQUARED, WORK } from "../../../../crypto/assembly/bn254/memory";

const POINTS: usize = 128;
const FIRST: usize = WORK;
const SECOND: usize = WORK + G1_SIZE;

/** Sets a constant from 32 bytes, given as words with the highest first; all but the first constant in Montgomery form. */
function set(at: usize, w3: u64, w2: u64, w1: u64, w0: u64): void {
  store<u64>(INPUT, bswap(w3));
  store<u64>(INPUT, bswap(w2), 8);
  store<u64>(INPUT, bswap(w1), 16);
  store<u64>(INPUT, bswap(w0), 24);
  if (at == R_SQUARED) fp.readRaw(at, INPUT); else fp.read(at, INPUT);
}

// 2^520 mod p.
set(R_SQUARED, 0x0a8469a30d3a9969, 0xbfd531600b4f898c, 0x98e6156195018016, 0xb868a81d1966eb04);
set(ONE, 0, 0, 0, 1);
set(B, 0, 0, 0, 3);

/** Writes the sum of the two points of the input, 64 bytes; false: one is invalid. */
export function sumPoints(to: usize, from: usize, size: usize): bool {
  const given = min(size, POINTS);
  memory.copy(INPUT, from, given);
  memory.fill(INPUT + given, 0, POINTS - given);
  if (!g1.read(FIRST, INPUT) || !g1.read(SECOND, INPUT + 64)) return false;
  g1.add(FIRST, FIRST, SECOND);
  g1.write(to, FIRST);
  return true;
}
