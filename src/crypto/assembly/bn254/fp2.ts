import * as fp from "./field";
import { inverse as inverseBase } from "./inverse";
import { mulBoth, mulFp2 as mul, tidyFp2 as tidy } from "./lanes";
import { FP, FP2_SCRATCH } from "./memory";

export { mul, tidy };

/* a + b u with u^2 = -1. Sizes and values as in field.ts, of either part; an output may be an input. */
const S0: usize = FP2_SCRATCH;
const S1: usize = FP2_SCRATCH + FP;
const S2: usize = FP2_SCRATCH + 2 * FP;

@inline
export function add(out: usize, a: usize, b: usize): void {
  fp.add(out, a, b);
  fp.add(out + FP, a + FP, b + FP);
}
@inline
export function sub(out: usize, a: usize, b: usize): void {
  fp.sub(out, a, b);
  fp.sub(out + FP, a + FP, b + FP);
}
@inline
export function neg(out: usize, a: usize): void {
  fp.neg(out, a);
  fp.neg(out + FP, a + FP);
}
@inline
export function scale(out: usize, a: usize, factor: i32): void {
  fp.scale(out, a, factor);
  fp.scale(out + FP, a + FP, factor);
}
@inline
export function copy(out: usize, a: usize): void {
  fp.copy(out, a);
  fp.copy(out + FP, a + FP);
}
/** The map x -> x^p. */
@inline
export function conjugate(out: usize, a: usize): void {
  fp.copy(out, a);
  fp.neg(out + FP, a + FP);
}


export function square(out: usize, a: usize): void {
  fp.add(S0, a, a + FP);
  fp.sub(S1, a, a + FP);
  fp.scale(S2, a, 2);
  mulBoth(out, S0, S1, out + FP, S2, a + FP);
}

/** Multiplication by an element of the base field. */
export function mulBase(out: usize, a: usize, b: usize): void {
  mulBoth(out, a, b, out + FP, a + FP, b);
}

/** out = (9 + u) a, tidy; a of size 3 at most. */
export function mulXi(out: usize, a: usize): void {
  fp.scale(S0, a, 9);
  fp.sub(S0, S0, a + FP);
  fp.scale(S1, a + FP, 9);
  fp.add(S1, S1, a);
  tidy(out, S0);
}

export function inverse(out: usize, a: usize): void {
  fp.mulSum(S0, a, a, a + FP, a + FP);
  inverseBase(S0, S0);
  fp.mul(out, a, S0);
  fp.neg(S0, S0);
  fp.mul(out + FP, a + FP, S0);
}

export function isZero(a: usize): bool {
  return fp.isZero(a) && fp.isZero(a + FP);
}
