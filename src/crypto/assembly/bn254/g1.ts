import * as fp from "./field";
import { inverse } from "./inverse";
import { B, CURVE_SCRATCH, FP, G1_SIZE, ONE, WORK } from "./memory";

/*
 * Points of y^2 = x^3 + 3 over Fp, projective: (X : Y : Z). The formulas are complete (Renes, Costello, Batina 2016, algorithms 7
 * and 9): they hold for every pair of points, also for equal ones and for infinity (0 : 1 : 0). Coordinates have size 2 at most.
 */
const Y: usize = FP;
const Z: usize = 2 * FP;
const T0: usize = CURVE_SCRATCH;
const T1: usize = CURVE_SCRATCH + FP;
const T2: usize = CURVE_SCRATCH + 2 * FP;
const T3: usize = CURVE_SCRATCH + 3 * FP;
const T4: usize = CURVE_SCRATCH + 4 * FP;
const T5: usize = CURVE_SCRATCH + 5 * FP;
const T6: usize = CURVE_SCRATCH + 6 * FP;

const TABLE: usize = WORK;
const ENTRIES: usize = 16;

// @ts-ignore: decorator
@inline
function tripleB(out: usize, a: usize): void {
  fp.scale(out, a, 9);
  fp.tidy(out, out);
}

function setInfinity(out: usize): void {
  memory.fill(out, 0, G1_SIZE);
  fp.copy(out + Y, ONE);
}

export function add(out: usize, a: usize, b: usize): void {
  fp.mul(T0, a, b);
  fp.mul(T1, a + Y, b + Y);
  fp.mul(T2, a + Z, b + Z);
  fp.add(T3, a, a + Y);
  fp.add(T4, b, b + Y);
  fp.mul(T3, T3, T4);
  fp.sub(T3, T3, T0);
  fp.sub(T3, T3, T1);
  fp.add(T4, a + Y, a + Z);
  fp.add(T5, b + Y, b + Z);
  fp.mul(T4, T4, T5);
  fp.sub(T4, T4, T1);
  fp.sub(T4, T4, T2);
  fp.add(T5, a, a + Z);
  fp.add(T6, b, b + Z);
  fp.mul(T5, T5, T6);
  fp.sub(T5, T5, T0);
  fp.sub(T5, T5, T2);
  fp.scale(T0, T0, 3);
  tripleB(T2, T2);
  tripleB(T5, T5);
  fp.add(T6, T1, T2);
  fp.sub(T1, T1, T2);
  fp.neg(T2, T5);
  fp.mulSum(out, T3, T1, T4, T2);
  fp.mulSum(out + Y, T1, T6, T5, T0);
  fp.mulSum(out + Z, T6, T4, T0, T3);
}

function double(out: usize, a: usize): void {
  fp.mul(T0, a + Y, a + Y);
  fp.mul(T1, a + Y, a + Z);
  fp.mul(T2, a + Z, a + Z);
  tripleB(T2, T2);
  fp.mul(T3, a, a + Y);
  fp.scale(T4, T0, 8);
  fp.add(T5, T0, T2);
  fp.scale(T6, T2, 3);
  fp.sub(T6, T0, T6);
  fp.mul(out + Z, T1, T4);
  fp.mulSum(out + Y, T2, T4, T6, T5);
  fp.add(T6, T6, T6);
  fp.mul(out, T6, T3);
}

/** Reads 64 bytes; false: a coordinate not below p, or not a point of the curve. All zeros are infinity. */
export function read(out: usize, bytes: usize): bool {
  if ((load<u64>(bytes) | load<u64>(bytes, 8) | load<u64>(bytes, 16) | load<u64>(bytes, 24)
    | load<u64>(bytes, 32) | load<u64>(bytes, 40) | load<u64>(bytes, 48) | load<u64>(bytes, 56)) == 0) {
    setInfinity(out);
    return true;
  }
  if (!fp.read(out, bytes) || !fp.read(out + Y, bytes + 32)) return false;
  fp.copy(out + Z, ONE);
  fp.mul(T0, out, out);
  fp.mul(T0, T0, out);
  fp.add(T0, T0, B);
  fp.mul(T1, out + Y, out + Y);
  fp.sub(T0, T0, T1);
  return fp.isZero(T0);
}

export function isInfinity(a: usize): bool {
  return fp.isZero(a + Z);
}

/** Writes 64 bytes. */
export function write(bytes: usize, a: usize): void {
  inverse(T0, a + Z);
  fp.mul(T1, a, T0);
  fp.write(bytes, T1);
  // Infinity is (0 : 1 : 0), and 1 / 0 is 0.
  fp.mul(T1, a + Y, T0);
  fp.write(bytes + 32, T1);
}

/** out = scalar a, with a scalar of 32 big-endian bytes, four bits at a time. */
export function multiply(out: usize, a: usize, scalar: usize): void {
  setInfinity(TABLE);
  memory.copy(TABLE + G1_SIZE, a, G1_SIZE);
  for (let i: usize = 2; i < ENTRIES; i++) add(TABLE + i * G1_SIZE, TABLE + (i - 1) * G1_SIZE, TABLE + G1_SIZE);
  setInfinity(out);
  for (let i: usize = 0; i < 64; i++) {
    for (let bit = 0; bit < 4; bit++) double(out, out);
    const byte = <usize>load<u8>(scalar + (i >> 1));
    const digit = i & 1 ? byte & 15 : byte >> 4;
    if (digit != 0) add(out, out, TABLE + digit * G1_SIZE);
  }
}
