/*
 * Curve bn254 (EIP-196, EIP-197): sum and multiple of points of G1, and the product of pairings in parts. The constants that p
 * and xi = 9 + u determine are computed by the caller (crypto/wasm/bn254.ts) and passed once.
 */
import * as fp from "./bn254/field";
import * as g1 from "./bn254/g1";
import * as g2 from "./bn254/g2";
import { BLOCK, BLOCK_SIZE, CONSTANTS, FP, G1_SIZE, INPUT, OUTPUT, PAIR, PAIR_P, PAIR_Q, PAIR_SIZE, PAIRS, WAITING, WORK } from "./bn254/memory";
import { begin, isOne, takeWaiting } from "./bn254/pairing";

const POINT: usize = WORK + 20 * G1_SIZE;

export { begin, BLOCK, BLOCK_SIZE, INPUT, isOne, OUTPUT, takeWaiting };


/** Sets the constant of this index from the input, 32 bytes; the first is R^2 mod p, the others are converted to Montgomery form. */
export function setConstant(index: u32): void {
  const at = CONSTANTS + <usize>index * FP;
  if (index == 0) fp.readRaw(at, INPUT);
  else fp.read(at, INPUT);
}

/** Sum of two points of 64 bytes; false: one is invalid. */
export function add(): bool {
  if (!g1.read(POINT, INPUT) || !g1.read(POINT + G1_SIZE, INPUT + 64)) return false;
  g1.add(POINT, POINT, POINT + G1_SIZE);
  g1.write(OUTPUT, POINT);
  return true;
}

/** Multiple of a point by the two numbers after it, as g1.ts has them; false: the point is invalid. */
export function multiply(isNegative: bool): bool {
  if (!g1.read(POINT, INPUT)) return false;
  g1.multiply(POINT + G1_SIZE, POINT, INPUT + 64, isNegative);
  g1.write(OUTPUT, POINT + G1_SIZE);
  return true;
}

/** Results of `takePair`. */
const VALID: i32 = 0;
const BAD_POINT: i32 = 1;
const BAD_FIELD: i32 = 2;

/** Reads a pair of 192 bytes and queues it unless one side is infinity; its errors are checked in EthereumJS' order. */
export function takePair(): i32 {
  if (!g1.read(POINT, INPUT)) return BAD_POINT;
  if (g2.isInfinity(INPUT + 64)) return VALID;
  const pair = PAIR + <usize>load<u32>(WAITING) * PAIR_SIZE;
  if (!g2.read(pair + PAIR_Q, INPUT + 64)) return BAD_FIELD;
  if (!g2.isValid(pair + PAIR_Q)) return BAD_POINT;
  if (g1.isInfinity(POINT)) return VALID;
  memory.copy(pair + PAIR_P, POINT, 2 * FP);
  store<u32>(WAITING, load<u32>(WAITING) + 1);
  return VALID;
}

/** True when no further pair can be queued. */
export function isFull(): bool {
  return load<u32>(WAITING) == PAIRS;
}
export function isWaiting(): bool {
  return load<u32>(WAITING) != 0;
}
