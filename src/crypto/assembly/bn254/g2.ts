import * as fp from "./field";
import * as fp2 from "./fp2";
import { B3_TWIST, B_TWIST, CURVE_SCRATCH, FP, FP2, G2_SIZE, GAMMA, ONE, WORK } from "./memory";

/* Points of the twist y^2 = x^3 + 3 / xi over Fp2, projective, with the same complete formulas as g1.ts: the group's order is odd. */
const Y: usize = FP2;
const Z: usize = 2 * FP2;
const T0: usize = CURVE_SCRATCH;
const T1: usize = CURVE_SCRATCH + FP2;
const T2: usize = CURVE_SCRATCH + 2 * FP2;
const T3: usize = CURVE_SCRATCH + 3 * FP2;
const T4: usize = CURVE_SCRATCH + 4 * FP2;
const T5: usize = CURVE_SCRATCH + 5 * FP2;
const T6: usize = CURVE_SCRATCH + 6 * FP2;
const T7: usize = CURVE_SCRATCH + 7 * FP2;

const START: usize = WORK;
const MINUS: usize = WORK + G2_SIZE;
const BY_X: usize = WORK + 2 * G2_SIZE;
const SUM: usize = WORK + 3 * G2_SIZE;
const MAPPED: usize = WORK + 4 * G2_SIZE;

/** Curve parameter x in non-adjacent form, lowest digit first. */
export const X_DIGITS: StaticArray<i8> = [
  1, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, -1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0,
  0, 0, 1, 0, -1, 0, -1, 0, -1, 0, 1, 0, 1, 0, 0, -1, 0, 1, 0, 1, 0, -1, 0, 0, 1, 0, 1, 0, 0, 0, 1,
];

function add(out: usize, a: usize, b: usize): void {
  fp2.mul(T0, a, b);
  fp2.mul(T1, a + Y, b + Y);
  fp2.mul(T2, a + Z, b + Z);
  fp2.add(T3, a, a + Y);
  fp2.add(T4, b, b + Y);
  fp2.mul(T3, T3, T4);
  fp2.sub(T3, T3, T0);
  fp2.sub(T3, T3, T1);
  fp2.add(T4, a + Y, a + Z);
  fp2.add(T5, b + Y, b + Z);
  fp2.mul(T4, T4, T5);
  fp2.sub(T4, T4, T1);
  fp2.sub(T4, T4, T2);
  fp2.add(T5, a, a + Z);
  fp2.add(T6, b, b + Z);
  fp2.mul(T5, T5, T6);
  fp2.sub(T5, T5, T0);
  fp2.sub(T5, T5, T2);
  fp2.scale(T0, T0, 3);
  fp2.mul(T2, T2, B3_TWIST);
  fp2.mul(T5, T5, B3_TWIST);
  fp2.add(T6, T1, T2);
  fp2.sub(T1, T1, T2);
  fp2.mul(out, T3, T1);
  fp2.mul(T7, T4, T5);
  fp2.sub(out, out, T7);
  fp2.mul(out + Y, T1, T6);
  fp2.mul(T7, T5, T0);
  fp2.add(out + Y, out + Y, T7);
  fp2.mul(out + Z, T6, T4);
  fp2.mul(T7, T0, T3);
  fp2.add(out + Z, out + Z, T7);
}

function double(out: usize, a: usize): void {
  fp2.square(T0, a + Y);
  fp2.mul(T1, a + Y, a + Z);
  fp2.square(T2, a + Z);
  fp2.mul(T2, T2, B3_TWIST);
  fp2.mul(T3, a, a + Y);
  fp2.scale(T4, T0, 8);
  fp2.add(T5, T0, T2);
  fp2.scale(T6, T2, 3);
  fp2.sub(T6, T0, T6);
  fp2.mul(out + Z, T1, T4);
  fp2.mul(out + Y, T2, T4);
  fp2.mul(T4, T6, T5);
  fp2.add(out + Y, out + Y, T4);
  fp2.add(T6, T6, T6);
  fp2.mul(out, T6, T3);
}

/** Endomorphism psi of the twist: x -> x^p on its coordinates. */
export function map(out: usize, a: usize): void {
  fp2.conjugate(out, a);
  fp2.mul(out, out, GAMMA + FP2);
  fp2.conjugate(out + Y, a + Y);
  fp2.mul(out + Y, out + Y, GAMMA + 2 * FP2);
}

function mapProjective(out: usize, a: usize): void {
  map(out, a);
  fp2.conjugate(out + Z, a + Z);
}

function equal(a: usize, b: usize): bool {
  for (let at: usize = 0; at < Z; at += FP2) {
    fp2.mul(T0, a + at, b + Z);
    fp2.mul(T1, b + at, a + Z);
    fp2.sub(T0, T0, T1);
    if (!fp2.isZero(T0)) return false;
  }
  return true;
}

/**
 * True when r times a point is infinity: (x + 1) P + psi(x P) + psi^2(x P) = psi^3(2 x P) (El Housni, Guillevic, Piellard 2022). That
 * relation and the curve's order have no common divisor but r; a unit test computes it.
 */
function isInSubgroup(): bool {
  memory.copy(MINUS, START, G2_SIZE);
  fp2.neg(MINUS + Y, START + Y);
  memory.copy(BY_X, START, G2_SIZE);
  for (let i = X_DIGITS.length - 2; i >= 0; i--) {
    double(BY_X, BY_X);
    const digit = unchecked(X_DIGITS[i]);
    if (digit != 0) add(BY_X, BY_X, digit > 0 ? START : MINUS);
  }
  add(SUM, BY_X, START);
  mapProjective(MAPPED, BY_X);
  add(SUM, SUM, MAPPED);
  mapProjective(MAPPED, MAPPED);
  add(SUM, SUM, MAPPED);
  mapProjective(MAPPED, MAPPED);
  double(MAPPED, MAPPED);
  return equal(SUM, MAPPED);
}

export function isInfinity(bytes: usize): bool {
  let bits: u64 = 0;
  for (let at: usize = 0; at < 128; at += 8) bits |= load<u64>(bytes + at);
  return bits == 0;
}

/** Reads the affine coordinates (imaginary part first, EIP-197); false: one is not below p. */
export function read(out: usize, bytes: usize): bool {
  const x = fp.read(out + FP, bytes) && fp.read(out, bytes + 32);
  return x && fp.read(out + FP2 + FP, bytes + 64) && fp.read(out + FP2, bytes + 96);
}

/** True when affine coordinates are those of a point of the subgroup. */
export function isValid(a: usize): bool {
  fp2.square(T0, a);
  fp2.mul(T0, T0, a);
  fp2.add(T0, T0, B_TWIST);
  fp2.square(T1, a + Y);
  fp2.sub(T0, T0, T1);
  if (!fp2.isZero(T0)) return false;
  memory.copy(START, a, Z);
  memory.fill(START + Z, 0, FP2);
  fp.copy(START + Z, ONE);
  return isInSubgroup();
}
