import * as fp from "./field";
import { inverse } from "./inverse";
import { mulBoth, mulSumBoth } from "./lanes";
import { B, BETA, CURVE_SCRATCH, FP, G1_SIZE, ONE, WORK } from "./memory";

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

const T7: usize = CURVE_SCRATCH + 7 * FP;
const NEGATED: usize = CURVE_SCRATCH + 8 * FP;

const TABLE: usize = WORK;
const IMAGES: usize = WORK + 8 * G1_SIZE;
/** Digits of a number below 2^127. */
const DIGITS: usize = 128;
const DIGITS_AT: usize = memory.data(256, 16);

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
  mulBoth(T0, a, b, T1, a + Y, b + Y);
  fp.add(T3, a, a + Y);
  fp.add(T4, b, b + Y);
  mulBoth(T2, a + Z, b + Z, T3, T3, T4);
  fp.sub(T3, T3, T0);
  fp.sub(T3, T3, T1);
  fp.add(T4, a + Y, a + Z);
  fp.add(T5, b + Y, b + Z);
  fp.add(T6, a, a + Z);
  fp.add(T7, b, b + Z);
  mulBoth(T4, T4, T5, T5, T6, T7);
  fp.sub(T4, T4, T1);
  fp.sub(T4, T4, T2);
  fp.sub(T5, T5, T0);
  fp.sub(T5, T5, T2);
  fp.scale(T0, T0, 3);
  tripleB(T2, T2);
  tripleB(T5, T5);
  fp.add(T6, T1, T2);
  fp.sub(T1, T1, T2);
  fp.neg(T2, T5);
  mulSumBoth(out, T3, T1, T4, T2, out + Y, T1, T6, T5, T0);
  fp.mulSum(out + Z, T6, T4, T0, T3);
}

function double(out: usize, a: usize): void {
  mulBoth(T0, a + Y, a + Y, T1, a + Y, a + Z);
  mulBoth(T2, a + Z, a + Z, T3, a, a + Y);
  tripleB(T2, T2);
  fp.scale(T4, T0, 8);
  fp.add(T5, T0, T2);
  fp.scale(T6, T2, 3);
  fp.sub(T6, T0, T6);
  fp.mulSum(out + Y, T2, T4, T6, T5);
  fp.add(T6, T6, T6);
  mulBoth(out, T6, T3, out + Z, T1, T4);
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
  mulBoth(T0, out, out, T1, out + Y, out + Y);
  fp.mul(T0, T0, out);
  fp.add(T0, T0, B);
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

/**
 * Writes the digits of a number below 2^127 in non-adjacent form of width 5, lowest first: each is zero or odd, between -15 and 15, and
 * of five neighbours one at most is not zero.
 */
function recode(out: usize, number: usize, isNegative: bool): void {
  let low = load<u64>(number), high = load<u64>(number, 8);
  for (let at = out; at < out + DIGITS; at++) {
    let digit: i64 = 0;
    if (low & 1) {
      digit = (<i64>(low << 59)) >> 59;
      const rest = low - <u64>digit;
      if (digit < 0 && rest < low) high++;
      low = rest;
    }
    store<i8>(at, <i8>(isNegative ? -digit : digit));
    low = (low >> 1) | (high << 63);
    high >>= 1;
  }
}

/** Adds the multiple of a table's point that a digit asks for. */
function addMultiple(out: usize, table: usize, digit: i32): void {
  if (digit == 0) return;
  const entry = table + (abs<i32>(digit) >> 1) * G1_SIZE;
  if (digit > 0) return add(out, out, entry);
  fp.copy(NEGATED, entry);
  fp.neg(NEGATED + Y, entry + Y);
  fp.copy(NEGATED + Z, entry + Z);
  add(out, out, NEGATED);
}

/** Odd multiples of a, and the same of its image under the endomorphism. */
function fillTables(a: usize): void {
  memory.copy(TABLE, a, G1_SIZE);
  double(NEGATED, a);
  for (let at = TABLE; at < TABLE + 7 * G1_SIZE; at += G1_SIZE) add(at + G1_SIZE, at, NEGATED);
  memory.copy(IMAGES, TABLE, 8 * G1_SIZE);
  for (let at = IMAGES; at < IMAGES + 8 * G1_SIZE; at += 2 * G1_SIZE)
    mulBoth(at, at, BETA, at + G1_SIZE, at + G1_SIZE, BETA);
}

/**
 * out = (n + lambda m) a, where (x, y) -> (beta x, y) is the multiplication by lambda (Gallant, Lambert, Vanstone 2001). n and |m|,
 * below 2^127, stand at `numbers`, 16 bytes each, least significant first.
 */
export function multiply(out: usize, a: usize, numbers: usize, isNegative: bool): void {
  fillTables(a);
  recode(DIGITS_AT, numbers, false);
  recode(DIGITS_AT + DIGITS, numbers + 16, isNegative);
  setInfinity(out);
  let i: i32 = <i32>DIGITS - 1;
  while (i >= 0 && (load<i8>(DIGITS_AT + i) | load<i8>(DIGITS_AT + DIGITS + i)) == 0) i--;
  for (; i >= 0; i--) {
    double(out, out);
    addMultiple(out, TABLE, load<i8>(DIGITS_AT + i));
    addMultiple(out, IMAGES, load<i8>(DIGITS_AT + DIGITS + i));
  }
}
