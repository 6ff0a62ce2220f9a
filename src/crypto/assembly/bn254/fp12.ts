import { copy, isZero, sub as subBase } from "./field";
import * as fp2 from "./fp2";
import { FP, FP12, FP12_SCRATCH, FP2, FP6, FP6_SCRATCH, GAMMA, ONE } from "./memory";

/*
 * Fp6 = Fp2[v] / (v^3 - xi), Fp12 = Fp6[w] / (w^2 - v), xi = 9 + u. Inputs and outputs of Fp12 are tidy; those of Fp6 in a product
 * have size 2 at most, which with the sums inside makes 4 * 4 * 2 = 32 of the 200 a sum of two products may have.
 */
const V0: usize = FP6_SCRATCH;
const V1: usize = FP6_SCRATCH + FP2;
const V2: usize = FP6_SCRATCH + 2 * FP2;
const X: usize = FP6_SCRATCH + 3 * FP2;
const Y: usize = FP6_SCRATCH + 4 * FP2;
const C0: usize = FP6_SCRATCH + 5 * FP2;
const C1: usize = FP6_SCRATCH + 6 * FP2;

const F0: usize = FP12_SCRATCH;
const F1: usize = FP12_SCRATCH + FP6;
const F2: usize = FP12_SCRATCH + 2 * FP6;
const F3: usize = FP12_SCRATCH + 3 * FP6;
const F4: usize = FP12_SCRATCH + 4 * FP6;

function add6(out: usize, a: usize, b: usize): void {
  for (let at: usize = 0; at < FP6; at += 16) v128.store(out + at, i32x4.add(v128.load(a + at), v128.load(b + at)));
}
function sub6(out: usize, a: usize, b: usize): void {
  for (let at: usize = 0; at < FP6; at += 16) v128.store(out + at, i32x4.sub(v128.load(a + at), v128.load(b + at)));
}
function neg6(out: usize, a: usize): void {
  for (let at: usize = 0; at < FP6; at += 16) v128.store(out + at, i32x4.neg(v128.load(a + at)));
}
function tidy6(out: usize, a: usize): void {
  fp2.tidy(out, a);
  fp2.tidy(out + FP2, a + FP2);
  fp2.tidy(out + 2 * FP2, a + 2 * FP2);
}

/** Karatsuba (Devegili et al. 2006). The result is tidy except for its first part, which has size 2. */
function mul6(out: usize, a: usize, b: usize): void {
  fp2.mul(V0, a, b);
  fp2.mul(V1, a + FP2, b + FP2);
  fp2.mul(V2, a + 2 * FP2, b + 2 * FP2);
  fp2.add(X, a + FP2, a + 2 * FP2);
  fp2.add(Y, b + FP2, b + 2 * FP2);
  fp2.mul(C0, X, Y);
  fp2.sub(C0, C0, V1);
  fp2.sub(C0, C0, V2);
  fp2.add(X, a, a + FP2);
  fp2.add(Y, b, b + FP2);
  fp2.mul(C1, X, Y);
  fp2.add(X, a, a + 2 * FP2);
  fp2.add(Y, b, b + 2 * FP2);
  fp2.mul(X, X, Y);
  fp2.sub(X, X, V0);
  fp2.sub(X, X, V2);
  fp2.add(X, X, V1);
  fp2.tidy(out + 2 * FP2, X);
  fp2.mulXi(X, V2);
  fp2.sub(C1, C1, V0);
  fp2.sub(C1, C1, V1);
  fp2.add(C1, C1, X);
  fp2.tidy(out + FP2, C1);
  fp2.mulXi(X, C0);
  fp2.add(out, V0, X);
}

/** Multiplication by b0 + b1 v. */
function mulSparse6(out: usize, a: usize, b0: usize, b1: usize): void {
  fp2.mul(V0, a, b0);
  fp2.mul(V1, a + FP2, b1);
  fp2.mul(C0, a + 2 * FP2, b1);
  fp2.add(X, a, a + FP2);
  fp2.add(Y, b0, b1);
  fp2.mul(C1, X, Y);
  fp2.sub(C1, C1, V0);
  fp2.sub(C1, C1, V1);
  fp2.mul(X, a + 2 * FP2, b0);
  fp2.add(X, X, V1);
  fp2.tidy(out + 2 * FP2, X);
  fp2.tidy(out + FP2, C1);
  fp2.mulXi(X, C0);
  fp2.add(out, V0, X);
}

/** out = v a. */
function mulV(out: usize, a: usize): void {
  fp2.mulXi(X, a + 2 * FP2);
  fp2.copy(out + 2 * FP2, a + FP2);
  fp2.copy(out + FP2, a);
  fp2.copy(out, X);
}

function inverse6(out: usize, a: usize): void {
  fp2.square(V0, a);
  fp2.mul(X, a + FP2, a + 2 * FP2);
  fp2.mulXi(X, X);
  fp2.sub(V0, V0, X);
  fp2.square(V1, a + 2 * FP2);
  fp2.mulXi(V1, V1);
  fp2.mul(X, a, a + FP2);
  fp2.sub(V1, V1, X);
  fp2.square(V2, a + FP2);
  fp2.mul(X, a, a + 2 * FP2);
  fp2.sub(V2, V2, X);
  fp2.mul(C0, a + 2 * FP2, V1);
  fp2.mul(C1, a + FP2, V2);
  fp2.add(C0, C0, C1);
  fp2.mulXi(C0, C0);
  fp2.mul(C1, a, V0);
  fp2.add(C0, C0, C1);
  fp2.inverse(C0, C0);
  fp2.mul(out, V0, C0);
  fp2.mul(out + FP2, V1, C0);
  fp2.mul(out + 2 * FP2, V2, C0);
}

export function setOne(out: usize): void {
  memory.fill(out, 0, FP12);
  copy(out, ONE);
}

export function mul(out: usize, a: usize, b: usize): void {
  mul6(F0, a, b);
  mul6(F1, a + FP6, b + FP6);
  add6(F2, a, a + FP6);
  add6(F3, b, b + FP6);
  mul6(F2, F2, F3);
  sub6(F2, F2, F0);
  sub6(F2, F2, F1);
  tidy6(out + FP6, F2);
  mulV(F1, F1);
  add6(F0, F0, F1);
  tidy6(out, F0);
}

/** (a + b w)^2 = (a + b)(a + v b) - ab - v ab + 2 ab w. */
export function square(out: usize, a: usize): void {
  mul6(F0, a, a + FP6);
  mulV(F1, a + FP6);
  add6(F1, F1, a);
  add6(F2, a, a + FP6);
  mul6(F1, F1, F2);
  mulV(F2, F0);
  sub6(F1, F1, F0);
  sub6(F1, F1, F2);
  add6(F0, F0, F0);
  tidy6(out, F1);
  tidy6(out + FP6, F0);
}

/** Multiplication by a line: l[0] + l[1] w + l[2] v w. */
export function mulLine(out: usize, a: usize, line: usize): void {
  const l1 = line + FP2;
  const l2 = line + 2 * FP2;
  fp2.mul(F0, a, line);
  fp2.mul(F0 + FP2, a + FP2, line);
  fp2.mul(F0 + 2 * FP2, a + 2 * FP2, line);
  mulSparse6(F1, a + FP6, l1, l2);
  add6(F2, a, a + FP6);
  fp2.add(F3, line, l1);
  mulSparse6(F2, F2, F3, l2);
  sub6(F2, F2, F0);
  sub6(F2, F2, F1);
  tidy6(out + FP6, F2);
  mulV(F1, F1);
  add6(F0, F0, F1);
  tidy6(out, F0);
}

/** x -> x^(p^6), which is 1 / x after the easy part of the final exponentiation. */
export function conjugate(out: usize, a: usize): void {
  memory.copy(out, a, FP6);
  neg6(out + FP6, a + FP6);
}

export function inverse(out: usize, a: usize): void {
  mul6(F0, a, a);
  mul6(F1, a + FP6, a + FP6);
  mulV(F1, F1);
  sub6(F0, F0, F1);
  tidy6(F0, F0);
  inverse6(F0, F0);
  mul6(F1, a, F0);
  neg6(F0, F0);
  mul6(F2, a + FP6, F0);
  tidy6(out, F1);
  tidy6(out + FP6, F2);
}

/** x -> x^p: the coefficient of w^i is conjugated and multiplied by gamma_i. */
export function frobenius(out: usize, a: usize): void {
  for (let i: usize = 0; i < 6; i++) {
    // The coefficient of w^i is in half i & 1 at position i >> 1.
    const at = (i & 1) * FP6 + (i >> 1) * FP2;
    fp2.conjugate(out + at, a + at);
    if (i != 0) fp2.mul(out + at, out + at, GAMMA + (i - 1) * FP2);
  }
}

/** Square in Fp4 = Fp2[s] / (s^2 - xi) of (a, b) into F4 and F4 + FP2, of sizes 2 and 3. */
function square4(a: usize, b: usize): void {
  fp2.square(V0, a);
  fp2.square(V1, b);
  fp2.add(X, a, b);
  fp2.square(C1, X);
  fp2.sub(C1, C1, V0);
  fp2.sub(F4 + FP2, C1, V1);
  fp2.mulXi(X, V1);
  fp2.add(F4, X, V0);
}

@inline
function combine(out: usize, three: usize, two: usize, sign: i32): void {
  fp2.scale(X, three, 3);
  fp2.scale(Y, two, 2 * sign);
  fp2.add(X, X, Y);
  fp2.tidy(out, X);
}

/** Square of an element whose norm is 1 (Granger, Scott 2010). */
export function squareCyclotomic(out: usize, a: usize): void {
  square4(a, a + FP6 + FP2);
  combine(F0, F4, a, -1);
  combine(F1 + FP2, F4 + FP2, a + FP6 + FP2, 1);
  square4(a + FP6, a + 2 * FP2);
  combine(F0 + FP2, F4, a + FP2, -1);
  combine(F1 + 2 * FP2, F4 + FP2, a + FP6 + 2 * FP2, 1);
  square4(a + FP2, a + FP6 + 2 * FP2);
  combine(F0 + 2 * FP2, F4, a + 2 * FP2, -1);
  fp2.mulXi(C0, F4 + FP2);
  combine(F1, C0, a + FP6, 1);
  memory.copy(out, F0, FP6);
  memory.copy(out + FP6, F1, FP6);
}

export function isOne(a: usize): bool {
  subBase(F0, a, ONE);
  if (!isZero(F0)) return false;
  for (let at: usize = FP; at < FP12; at += FP) if (!isZero(a + at)) return false;
  return true;
}
