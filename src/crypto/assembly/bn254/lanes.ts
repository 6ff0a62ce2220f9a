import { FP, LANES_SCRATCH } from "./memory";

/*
 * Two products at once, one in each lane of 64 bits, in the form and with the bounds of field.ts, and with the same results. Limbs are
 * interleaved first: a vector holds limb 2 k of both numbers, then limb 2 k + 1. Few processors shift signed lanes of 64 bits, so sums
 * are shifted as unsigned numbers: each starts at 2^63, less the 2^37 that the carry into it brings too much.
 */
const ROWS: usize = 80;
const SIZE: usize = 96;
/** Left and right factors, and those of the second product of a sum. */
const A: usize = LANES_SCRATCH;
const B: usize = LANES_SCRATCH + SIZE;
const C: usize = LANES_SCRATCH + 2 * SIZE;
const D: usize = LANES_SCRATCH + 3 * SIZE;

const PRIME: StaticArray<i32> = [
  0x7cfd47, 0x7cfd47, 0x2305b6, 0x2305b6, 0xa8d3c2, 0xa8d3c2, 0x245a1c7, 0x245a1c7, 0x197816a, 0x197816a,
  0x605617, 0x605617, 0x1045b68, 0x1045b68, 0x280a6e1, 0x280a6e1, 0x272e131, 0x272e131, 0xc1913, 0xc1913,
];
/** -1 / p mod 2^26. */
const INVERSE: i32 = 8807305;
const MASK: i64 = 0x3ffffff;
/** 2^40 / the highest limb of p, rounded down. */
const TOP_INVERSE: i32 = 1386782;
const START: i64 = 1 << 63;
const LATER: i64 = START - (1 << 37);

@inline
function even(x: v128, y: usize): v128 { return i64x2.extmul_low_i32x4_s(x, v128.load(y)); }
@inline
function odd(x: v128, y: usize): v128 { return i64x2.extmul_high_i32x4_s(x, v128.load(y)); }
@inline
function plus(a: v128, b: v128): v128 { return i64x2.add(a, b); }
/** The lower halves of both lanes, twice. */
@inline
function lowers(x: v128): v128 { return v128.shuffle<i32>(x, x, 0, 2, 0, 2); }

/** Interleaves the limbs of two numbers. */
@inline
function interleave(out: usize, a: usize, b: usize): void {
  const a0 = v128.load(a), b0 = v128.load(b), a1 = v128.load(a, 16), b1 = v128.load(b, 16);
  v128.store(out, v128.shuffle<i32>(a0, b0, 0, 4, 1, 5));
  v128.store(out, v128.shuffle<i32>(a0, b0, 2, 6, 3, 7), 16);
  v128.store(out, v128.shuffle<i32>(a1, b1, 0, 4, 1, 5), 32);
  v128.store(out, v128.shuffle<i32>(a1, b1, 2, 6, 3, 7), 48);
  v128.store(out, v128.shuffle<i32>(v128.load(a, 32), v128.load(b, 32), 0, 4, 1, 5), 64);
}

/** Stores four carried sums as neighbours in both numbers, whole vectors at a time: such are read next. */
@inline
function separate(out0: usize, out1: usize, t0: v128, t1: v128, t2: v128, t3: v128): void {
  const first = v128.shuffle<i32>(t0, t1, 0, 4, 2, 6), second = v128.shuffle<i32>(t2, t3, 0, 4, 2, 6);
  v128.store(out0, v128.shuffle<i64>(first, second, 0, 2));
  v128.store(out1, v128.shuffle<i64>(first, second, 1, 3));
}

/** Carries sums, of which the last keeps its sign, and stores them. */
@inline
function carried(out0: usize, out1: usize, t0: v128, t1: v128, t2: v128, t3: v128, t4: v128, t5: v128, t6: v128, t7: v128, t8: v128, t9: v128): void {
  const mask = i64x2.splat(MASK), zero = i64x2.splat(0);
  t1 = plus(t1, i64x2.shr_u(t0, 26));
  t2 = plus(t2, i64x2.shr_u(t1, 26));
  t3 = plus(t3, i64x2.shr_u(t2, 26));
  separate(out0, out1, v128.and(t0, mask), v128.and(t1, mask), v128.and(t2, mask), v128.and(t3, mask));
  t4 = plus(t4, i64x2.shr_u(t3, 26));
  t5 = plus(t5, i64x2.shr_u(t4, 26));
  t6 = plus(t6, i64x2.shr_u(t5, 26));
  t7 = plus(t7, i64x2.shr_u(t6, 26));
  separate(out0 + 16, out1 + 16, v128.and(t4, mask), v128.and(t5, mask), v128.and(t6, mask), v128.and(t7, mask));
  t8 = plus(t8, i64x2.shr_u(t7, 26));
  t9 = plus(t9, i64x2.shr_u(t8, 26));
  separate(out0 + 32, out1 + 32, v128.and(t8, mask), t9, zero, zero);
}

function product(out0: usize, out1: usize): void {
  const prime = changetype<usize>(PRIME), later = i64x2.splat(LATER);
  let t0 = i64x2.splat(START), t1 = later, t2 = later, t3 = later, t4 = later;
  let t5 = later, t6 = later, t7 = later, t8 = later, t9 = later;
  for (let i: usize = 0; i < ROWS; i += 8) {
    const x = v128.load_splat<u64>(A + i);
    t0 = plus(t0, even(x, B));
    const m = lowers(v128.and(i64x2.extmul_low_i32x4_u(lowers(t0), i32x4.splat(INVERSE)), i64x2.splat(MASK)));
    t0 = plus(plus(plus(t1, odd(x, B)), odd(m, prime)), i64x2.shr_u(plus(t0, even(m, prime)), 26));
    t1 = plus(plus(t2, even(x, B + 16)), even(m, prime + 16));
    t2 = plus(plus(t3, odd(x, B + 16)), odd(m, prime + 16));
    t3 = plus(plus(t4, even(x, B + 32)), even(m, prime + 32));
    t4 = plus(plus(t5, odd(x, B + 32)), odd(m, prime + 32));
    t5 = plus(plus(t6, even(x, B + 48)), even(m, prime + 48));
    t6 = plus(plus(t7, odd(x, B + 48)), odd(m, prime + 48));
    t7 = plus(plus(t8, even(x, B + 64)), even(m, prime + 64));
    t8 = plus(plus(t9, odd(x, B + 64)), odd(m, prime + 64));
    t9 = i64x2.splat(LATER);
  }
  carried(out0, out1, t0, t1, t2, t3, t4, t5, t6, t7, t8, t9);
}

/** out0 = a0 b0 and out1 = a1 b1. */
export function mulBoth(out0: usize, a0: usize, b0: usize, out1: usize, a1: usize, b1: usize): void {
  interleave(A, a0, a1);
  interleave(B, b0, b1);
  product(out0, out1);
}

function productSum(out0: usize, out1: usize): void {
  const prime = changetype<usize>(PRIME), later = i64x2.splat(LATER);
  let t0 = i64x2.splat(START), t1 = later, t2 = later, t3 = later, t4 = later;
  let t5 = later, t6 = later, t7 = later, t8 = later, t9 = later;
  for (let i: usize = 0; i < ROWS; i += 8) {
    const x = v128.load_splat<u64>(A + i);
    const y = v128.load_splat<u64>(C + i);
    t0 = plus(plus(t0, even(x, B)), even(y, D));
    const m = lowers(v128.and(i64x2.extmul_low_i32x4_u(lowers(t0), i32x4.splat(INVERSE)), i64x2.splat(MASK)));
    t0 = plus(plus(plus(plus(t1, odd(x, B)), odd(y, D)), odd(m, prime)), i64x2.shr_u(plus(t0, even(m, prime)), 26));
    t1 = plus(plus(plus(t2, even(x, B + 16)), even(y, D + 16)), even(m, prime + 16));
    t2 = plus(plus(plus(t3, odd(x, B + 16)), odd(y, D + 16)), odd(m, prime + 16));
    t3 = plus(plus(plus(t4, even(x, B + 32)), even(y, D + 32)), even(m, prime + 32));
    t4 = plus(plus(plus(t5, odd(x, B + 32)), odd(y, D + 32)), odd(m, prime + 32));
    t5 = plus(plus(plus(t6, even(x, B + 48)), even(y, D + 48)), even(m, prime + 48));
    t6 = plus(plus(plus(t7, odd(x, B + 48)), odd(y, D + 48)), odd(m, prime + 48));
    t7 = plus(plus(plus(t8, even(x, B + 64)), even(y, D + 64)), even(m, prime + 64));
    t8 = plus(plus(plus(t9, odd(x, B + 64)), odd(y, D + 64)), odd(m, prime + 64));
    t9 = i64x2.splat(LATER);
  }
  carried(out0, out1, t0, t1, t2, t3, t4, t5, t6, t7, t8, t9);
}

/** out0 = a0 b0 + c0 d0 and out1 = a1 b1 + c1 d1, each reduced once. */
export function mulSumBoth(
  out0: usize, a0: usize, b0: usize, c0: usize, d0: usize, out1: usize, a1: usize, b1: usize, c1: usize, d1: usize,
): void {
  interleave(A, a0, a1);
  interleave(B, b0, b1);
  interleave(C, c0, c1);
  interleave(D, d0, d1);
  productSum(out0, out1);
}

/** out = a b of Fp2: a0 b0 - a1 b1 and a1 b0 + a0 b1. */
export function mulFp2(out: usize, a: usize, b: usize): void {
  for (let at: usize = 0; at < FP; at += 16) {
    const a0 = v128.load(a + at), a1 = v128.load(a + FP + at), b0 = v128.load(b + at), b1 = v128.load(b + FP + at);
    const minus = i32x4.neg(a1), to = at << 1;
    v128.store(A + to, v128.shuffle<i32>(a0, a1, 0, 4, 1, 5));
    v128.store(B + to, v128.shuffle<i32>(b0, b0, 0, 0, 1, 1));
    v128.store(C + to, v128.shuffle<i32>(minus, a0, 0, 4, 1, 5));
    v128.store(D + to, v128.shuffle<i32>(b1, b1, 0, 0, 1, 1));
    v128.store(A + to, v128.shuffle<i32>(a0, a1, 2, 6, 3, 7), 16);
    v128.store(B + to, v128.shuffle<i32>(b0, b0, 2, 2, 3, 3), 16);
    v128.store(C + to, v128.shuffle<i32>(minus, a0, 2, 6, 3, 7), 16);
    v128.store(D + to, v128.shuffle<i32>(b1, b1, 2, 2, 3, 3), 16);
  }
  productSum(out, out + FP);
}

@inline
function widenLow(start: i64, x: v128): v128 { return plus(i64x2.splat(start), i64x2.extend_low_i32x4_s(x)); }
@inline
function widenHigh(x: v128): v128 { return plus(i64x2.splat(LATER), i64x2.extend_high_i32x4_s(x)); }

/** Estimate of both numbers / p from their two highest limbs, twice. */
@inline
function quotients(highest: v128): v128 {
  const tops = i32x4.add(v128.shuffle<i32>(highest, highest, 2, 3, 2, 3), i32x4.shr_s(highest, 26));
  const estimate = plus(i64x2.extmul_low_i32x4_s(tops, i32x4.splat(TOP_INVERSE)), i64x2.splat(START));
  return lowers(i64x2.sub(i64x2.shr_u(estimate, 40), i64x2.splat(1 << 23)));
}

/** `tidy` of field.ts for both parts of an element of Fp2. */
export function tidyFp2(out: usize, a: usize): void {
  const prime = changetype<usize>(PRIME);
  const x0 = v128.load(a), y0 = v128.load(a + FP), x1 = v128.load(a, 16), y1 = v128.load(a + FP, 16);
  const l0 = v128.shuffle<i32>(x0, y0, 0, 4, 1, 5), l2 = v128.shuffle<i32>(x0, y0, 2, 6, 3, 7);
  const l4 = v128.shuffle<i32>(x1, y1, 0, 4, 1, 5), l6 = v128.shuffle<i32>(x1, y1, 2, 6, 3, 7);
  const l8 = v128.shuffle<i32>(v128.load(a, 32), v128.load(a + FP, 32), 0, 4, 1, 5);
  const q = quotients(l8);
  carried(
    out, out + FP,
    i64x2.sub(widenLow(START, l0), even(q, prime)), i64x2.sub(widenHigh(l0), odd(q, prime)),
    i64x2.sub(widenLow(LATER, l2), even(q, prime + 16)), i64x2.sub(widenHigh(l2), odd(q, prime + 16)),
    i64x2.sub(widenLow(LATER, l4), even(q, prime + 32)), i64x2.sub(widenHigh(l4), odd(q, prime + 32)),
    i64x2.sub(widenLow(LATER, l6), even(q, prime + 48)), i64x2.sub(widenHigh(l6), odd(q, prime + 48)),
    i64x2.sub(widenLow(LATER, l8), even(q, prime + 64)), i64x2.sub(widenHigh(l8), odd(q, prime + 64)),
  );
}
