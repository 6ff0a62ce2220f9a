import * as fp from "./field";
import * as fp2 from "./fp2";
import * as fp12 from "./fp12";
import { map, X_DIGITS } from "./g2";
import {
  B3_TWIST, CURVE_SCRATCH, FP, FP12, FP2, FP6, LINE, MILLER, ONE, PAIR, PAIR_P, PAIR_Q, PAIR_SIZE, TOTAL, WAITING, WORK,
} from "./memory";

/* Optimal ate pairing (Vercauteren 2010), projective steps of Aranha et al. 2013; queued pairs share squarings of the Miller loop. */
const X: usize = 0;
const Y: usize = FP2;
const Z: usize = 2 * FP2;
const T0: usize = CURVE_SCRATCH;
const T1: usize = CURVE_SCRATCH + FP2;
const T2: usize = CURVE_SCRATCH + 2 * FP2;
const T3: usize = CURVE_SCRATCH + 3 * FP2;
const T4: usize = CURVE_SCRATCH + 4 * FP2;
const T5: usize = CURVE_SCRATCH + 5 * FP2;
const T6: usize = CURVE_SCRATCH + 6 * FP2;
const L0: usize = LINE;
const L1: usize = LINE + FP2;
const L2: usize = LINE + 2 * FP2;
/** Point to add that is not the start itself. */
const OTHER: usize = WORK;

/** 6 x + 2 in non-adjacent form, lowest digit first. */
const LOOP: StaticArray<i8> = [
  0, 0, 0, 1, 0, 1, 0, -1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, -1, 0, 0, 0, 1, 0, -1, 0, 0, 0, 0, -1, 0, 0,
  1, 0, -1, 0, 0, 1, 0, 0, 0, 0, 0, -1, 0, 0, -1, 0, 1, 0, -1, 0, 0, 0, -1, 0, -1, 0, 0, 0, 1, 0, -1, 0, 1,
];

/** Evaluates the line at the point p of G1 into LINE. */
function atPoint(p: usize): void {
  fp2.mulBase(L0, L0, p + FP);
  fp2.mulBase(L1, L1, p);
}

/** t = 2 t with the tangent; coordinates scaled by 4 to avoid halves. */
function doubleStep(t: usize, p: usize): void {
  fp2.mul(T0, t + X, t + Y);
  fp2.square(T1, t + Y);
  fp2.square(T2, t + Z);
  fp2.mul(T3, T2, B3_TWIST);
  fp2.add(T4, t + Y, t + Z);
  fp2.square(T4, T4);
  fp2.sub(T4, T4, T1);
  fp2.sub(T4, T4, T2);
  fp2.square(T5, t + X);
  fp2.neg(L0, T4);
  fp2.scale(L1, T5, 3);
  fp2.sub(L2, T3, T1);
  atPoint(p);
  fp2.mul(T6, T1, T4);
  fp2.scale(T6, T6, 4);
  fp2.tidy(t + Z, T6);
  fp2.scale(T6, T3, 3);
  fp2.sub(T2, T1, T6);
  fp2.mul(T0, T0, T2);
  fp2.scale(T0, T0, 2);
  fp2.tidy(t + X, T0);
  fp2.add(T2, T1, T6);
  fp2.square(T2, T2);
  fp2.square(T3, T3);
  fp2.scale(T3, T3, 12);
  fp2.sub(T2, T2, T3);
  fp2.tidy(t + Y, T2);
}

/** t = t + q (affine) with the line through both. */
function addStep(t: usize, q: usize, p: usize): void {
  fp2.mul(T0, q + Y, t + Z);
  fp2.sub(T0, t + Y, T0);
  fp2.mul(T1, q + X, t + Z);
  fp2.sub(T1, t + X, T1);
  fp2.mul(T2, T0, q + X);
  fp2.mul(T3, T1, q + Y);
  fp2.sub(L2, T2, T3);
  fp2.copy(L0, T1);
  fp2.neg(L1, T0);
  atPoint(p);
  fp2.square(T2, T0);
  fp2.square(T3, T1);
  fp2.mul(T4, T1, T3);
  fp2.mul(T5, t + Z, T2);
  fp2.mul(T6, t + X, T3);
  fp2.add(T5, T4, T5);
  fp2.scale(T2, T6, 2);
  fp2.sub(T5, T5, T2);
  fp2.mul(T3, T1, T5);
  fp2.tidy(t + X, T3);
  fp2.sub(T6, T6, T5);
  fp2.mul(T6, T0, T6);
  fp2.mul(T2, T4, t + Y);
  fp2.sub(T6, T6, T2);
  fp2.tidy(t + Y, T6);
  fp2.mul(T2, t + Z, T4);
  fp2.tidy(t + Z, T2);
}

/** Multiplies a finished line into the product. */
function multiplyLine(): void {
  fp12.mulLine(MILLER, MILLER, LINE);
}

function negated(q: usize): usize {
  fp2.copy(OTHER, q);
  fp2.neg(OTHER + Y, q + Y);
  return OTHER;
}

/** Adds Q + psi(Q) - psi^2(Q), the end of the loop. */
function lastSteps(pair: usize): void {
  const q = pair + PAIR_Q;
  map(OTHER, q);
  addStep(pair, OTHER, pair + PAIR_P);
  multiplyLine();
  map(OTHER, OTHER);
  fp2.neg(OTHER + Y, OTHER + Y);
  addStep(pair, OTHER, pair + PAIR_P);
  multiplyLine();
}

/** Multiplies the Miller loops of the queued pairs into the total. */
export function takeWaiting(): void {
  const end = PAIR + <usize>load<u32>(WAITING) * PAIR_SIZE;
  store<u32>(WAITING, 0);
  for (let pair = PAIR; pair < end; pair += PAIR_SIZE) {
    memory.copy(pair, pair + PAIR_Q, 2 * FP2);
    memory.fill(pair + Z, 0, FP2);
    fp.copy(pair + Z, ONE);
  }
  fp12.setOne(MILLER);
  for (let i = LOOP.length - 2; i >= 0; i--) {
    if (i != LOOP.length - 2) fp12.square(MILLER, MILLER);
    const digit = unchecked(LOOP[i]);
    for (let pair = PAIR; pair < end; pair += PAIR_SIZE) {
      doubleStep(pair, pair + PAIR_P);
      multiplyLine();
      if (digit == 0) continue;
      addStep(pair, digit > 0 ? pair + PAIR_Q : negated(pair + PAIR_Q), pair + PAIR_P);
      multiplyLine();
    }
  }
  for (let pair = PAIR; pair < end; pair += PAIR_SIZE) lastSteps(pair);
  fp12.mul(TOTAL, TOTAL, MILLER);
}

const INVERSE: usize = WORK;
const BASE: usize = WORK + FP12;
const POWER: usize = WORK + 2 * FP12;
const A: usize = WORK + 3 * FP12;
const C: usize = WORK + 4 * FP12;
const D: usize = WORK + 5 * FP12;
const E: usize = WORK + 6 * FP12;

/** out = a^-x of an element whose norm is 1; not in place. */
function powerMinusX(out: usize, a: usize): void {
  fp12.conjugate(INVERSE, a);
  memory.copy(out, a, FP12);
  for (let i = X_DIGITS.length - 2; i >= 0; i--) {
    fp12.squareCyclotomic(out, out);
    const digit = unchecked(X_DIGITS[i]);
    if (digit != 0) fp12.mul(out, out, digit > 0 ? a : INVERSE);
  }
  fp12.conjugate(out, out);
}

/** Raises the total to the power (p^6 - 1)(p^2 + 1), into BASE. */
function easyPart(): void {
  fp12.inverse(A, TOTAL);
  fp12.conjugate(BASE, TOTAL);
  fp12.mul(A, BASE, A);
  fp12.frobenius(BASE, A);
  fp12.frobenius(BASE, BASE);
  fp12.mul(BASE, BASE, A);
}

/** Raises BASE to a multiple of (p^4 - p^2 + 1) / r that shares no factor with r (Fuentes-Castaneda, Knapp, Rodriguez-Henriquez 2011). */
function hardPart(): void {
  powerMinusX(POWER, BASE);
  fp12.squareCyclotomic(A, POWER); // -2x
  fp12.squareCyclotomic(C, A); // -4x
  fp12.mul(C, C, A); // -6x
  powerMinusX(D, C); // 6x^2
  fp12.squareCyclotomic(E, D); // 12x^2
  powerMinusX(POWER, E); // -12x^3
  fp12.conjugate(C, C); // 6x
  fp12.conjugate(POWER, POWER); // 12x^3
  fp12.mul(POWER, POWER, D);
  fp12.mul(POWER, POWER, C); // 12x^3 + 6x^2 + 6x
  fp12.mul(A, POWER, A); // 12x^3 + 6x^2 + 4x
  fp12.mul(D, POWER, D);
  fp12.mul(D, D, BASE); // 12x^3 + 12x^2 + 6x + 1
  fp12.frobenius(C, A);
  fp12.mul(D, D, C);
  fp12.frobenius(POWER, POWER);
  fp12.frobenius(POWER, POWER);
  fp12.mul(D, D, POWER);
  fp12.conjugate(BASE, BASE);
  fp12.mul(A, A, BASE); // 12x^3 + 6x^2 + 4x - 1
  fp12.frobenius(A, A);
  fp12.frobenius(A, A);
  fp12.frobenius(A, A);
  fp12.mul(TOTAL, D, A);
}

/** True when the product of all pairings is 1. */
export function isOne(): bool {
  easyPart();
  hardPart();
  return fp12.isOne(TOTAL);
}

export function begin(): void {
  fp12.setOne(TOTAL);
  store<u32>(WAITING, 0);
}
