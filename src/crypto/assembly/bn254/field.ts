import { FIELD_SCRATCH, FP, R_SQUARED } from "./memory";

/*
 * Field of p elements in Montgomery form, R = 2^260. Sums are not carried: limbs are signed and products are summed in 64 bits, so
 * that an addition is three SIMD instructions. Bounds that keep this correct:
 *   size  of an element: its limbs are below size * 2^26. Products need size_a * size_b <= 200, a sum of two products the sum of both.
 *   value of an element: its absolute value is below value * p. A product's is at most 1 + value_a * value_b / 80.
 * Products have size 1. `tidy` brings any element of size 31 and value 100 back to size 1 and to a value between -1/100 and 1 + 1/100.
 */
const MASK: i64 = 0x3ffffff;
const P0: i64 = 0x7cfd47;
const P1: i64 = 0x2305b6;
const P2: i64 = 0xa8d3c2;
const P3: i64 = 0x245a1c7;
const P4: i64 = 0x197816a;
const P5: i64 = 0x605617;
const P6: i64 = 0x1045b68;
const P7: i64 = 0x280a6e1;
const P8: i64 = 0x272e131;
const P9: i64 = 0xc1913;
/** -1 / p mod 2^26. */
const INVERSE: u32 = 8807305;
/** 2^40 / P9, rounded down. */
const TOP_INVERSE: i64 = 1386782;

const PLAIN_ONE: usize = FIELD_SCRATCH;
const TEMPORARY: usize = FIELD_SCRATCH + FP;
const WORDS: usize = FIELD_SCRATCH + 2 * FP;

@inline
function limb(at: usize, index: usize): i64 {
  return <i64>load<i32>(at + index * 4);
}

@inline
function carried(out: usize, t0: i64, t1: i64, t2: i64, t3: i64, t4: i64, t5: i64, t6: i64, t7: i64, t8: i64, t9: i64): void {
  store<i32>(out, <i32>(t0 & MASK), 0);
  t1 += t0 >> 26; store<i32>(out, <i32>(t1 & MASK), 4);
  t2 += t1 >> 26; store<i32>(out, <i32>(t2 & MASK), 8);
  t3 += t2 >> 26; store<i32>(out, <i32>(t3 & MASK), 12);
  t4 += t3 >> 26; store<i32>(out, <i32>(t4 & MASK), 16);
  t5 += t4 >> 26; store<i32>(out, <i32>(t5 & MASK), 20);
  t6 += t5 >> 26; store<i32>(out, <i32>(t6 & MASK), 24);
  t7 += t6 >> 26; store<i32>(out, <i32>(t7 & MASK), 28);
  t8 += t7 >> 26; store<i32>(out, <i32>(t8 & MASK), 32);
  t9 += t8 >> 26; store<i32>(out, <i32>t9, 36);
}

/** out = a b. */
export function mul(out: usize, a: usize, b: usize): void {
  const b0 = limb(b, 0), b1 = limb(b, 1), b2 = limb(b, 2), b3 = limb(b, 3), b4 = limb(b, 4);
  const b5 = limb(b, 5), b6 = limb(b, 6), b7 = limb(b, 7), b8 = limb(b, 8), b9 = limb(b, 9);
  let t0: i64 = 0, t1: i64 = 0, t2: i64 = 0, t3: i64 = 0, t4: i64 = 0;
  let t5: i64 = 0, t6: i64 = 0, t7: i64 = 0, t8: i64 = 0, t9: i64 = 0;
  for (let i: usize = 0; i < 40; i += 4) {
    const x = <i64>load<i32>(a + i);
    t0 += x * b0;
    const m = <i64>(<u32>t0 * INVERSE) & MASK;
    t0 = t1 + x * b1 + m * P1 + ((t0 + m * P0) >> 26);
    t1 = t2 + x * b2 + m * P2;
    t2 = t3 + x * b3 + m * P3;
    t3 = t4 + x * b4 + m * P4;
    t4 = t5 + x * b5 + m * P5;
    t5 = t6 + x * b6 + m * P6;
    t6 = t7 + x * b7 + m * P7;
    t7 = t8 + x * b8 + m * P8;
    t8 = x * b9 + m * P9;
  }
  carried(out, t0, t1, t2, t3, t4, t5, t6, t7, t8, t9);
}

/** out = a b + c d, reduced once. */
export function mulSum(out: usize, a: usize, b: usize, c: usize, d: usize): void {
  const b0 = limb(b, 0), b1 = limb(b, 1), b2 = limb(b, 2), b3 = limb(b, 3), b4 = limb(b, 4);
  const b5 = limb(b, 5), b6 = limb(b, 6), b7 = limb(b, 7), b8 = limb(b, 8), b9 = limb(b, 9);
  const d0 = limb(d, 0), d1 = limb(d, 1), d2 = limb(d, 2), d3 = limb(d, 3), d4 = limb(d, 4);
  const d5 = limb(d, 5), d6 = limb(d, 6), d7 = limb(d, 7), d8 = limb(d, 8), d9 = limb(d, 9);
  let t0: i64 = 0, t1: i64 = 0, t2: i64 = 0, t3: i64 = 0, t4: i64 = 0;
  let t5: i64 = 0, t6: i64 = 0, t7: i64 = 0, t8: i64 = 0, t9: i64 = 0;
  for (let i: usize = 0; i < 40; i += 4) {
    const x = <i64>load<i32>(a + i);
    const y = <i64>load<i32>(c + i);
    t0 += x * b0 + y * d0;
    const m = <i64>(<u32>t0 * INVERSE) & MASK;
    t0 = t1 + x * b1 + y * d1 + m * P1 + ((t0 + m * P0) >> 26);
    t1 = t2 + x * b2 + y * d2 + m * P2;
    t2 = t3 + x * b3 + y * d3 + m * P3;
    t3 = t4 + x * b4 + y * d4 + m * P4;
    t4 = t5 + x * b5 + y * d5 + m * P5;
    t5 = t6 + x * b6 + y * d6 + m * P6;
    t6 = t7 + x * b7 + y * d7 + m * P7;
    t7 = t8 + x * b8 + y * d8 + m * P8;
    t8 = x * b9 + y * d9 + m * P9;
  }
  carried(out, t0, t1, t2, t3, t4, t5, t6, t7, t8, t9);
}

/** Carries, and subtracts the multiple of p estimated from the highest limbs. */
export function tidy(out: usize, a: usize): void {
  const q = ((limb(a, 9) + (limb(a, 8) >> 26)) * TOP_INVERSE) >> 40;
  carried(
    out,
    limb(a, 0) - q * P0, limb(a, 1) - q * P1, limb(a, 2) - q * P2, limb(a, 3) - q * P3, limb(a, 4) - q * P4,
    limb(a, 5) - q * P5, limb(a, 6) - q * P6, limb(a, 7) - q * P7, limb(a, 8) - q * P8, limb(a, 9) - q * P9,
  );
}

@inline
export function add(out: usize, a: usize, b: usize): void {
  v128.store(out, i32x4.add(v128.load(a), v128.load(b)));
  v128.store(out, i32x4.add(v128.load(a, 16), v128.load(b, 16)), 16);
  v128.store(out, i32x4.add(v128.load(a, 32), v128.load(b, 32)), 32);
}

@inline
export function sub(out: usize, a: usize, b: usize): void {
  v128.store(out, i32x4.sub(v128.load(a), v128.load(b)));
  v128.store(out, i32x4.sub(v128.load(a, 16), v128.load(b, 16)), 16);
  v128.store(out, i32x4.sub(v128.load(a, 32), v128.load(b, 32)), 32);
}

@inline
export function neg(out: usize, a: usize): void {
  v128.store(out, i32x4.neg(v128.load(a)));
  v128.store(out, i32x4.neg(v128.load(a, 16)), 16);
  v128.store(out, i32x4.neg(v128.load(a, 32)), 32);
}

/** out = factor a; its size grows by the factor. */
@inline
export function scale(out: usize, a: usize, factor: i32): void {
  const by = i32x4.splat(factor);
  v128.store(out, i32x4.mul(v128.load(a), by));
  v128.store(out, i32x4.mul(v128.load(a, 16), by), 16);
  v128.store(out, i32x4.mul(v128.load(a, 32), by), 32);
}

@inline
export function copy(out: usize, a: usize): void {
  v128.store(out, v128.load(a));
  v128.store(out, v128.load(a, 16), 16);
  v128.store(out, v128.load(a, 32), 32);
}

const PRIME: StaticArray<i32> = [
  0x7cfd47, 0x2305b6, 0xa8d3c2, 0x245a1c7, 0x197816a, 0x605617, 0x1045b68, 0x280a6e1, 0x272e131, 0xc1913,
];
@inline
function prime(index: i32): i32 {
  return load<i32>(changetype<usize>(PRIME) + (<usize>index << 2));
}

/** True when carried limbs encode a number not below p. */
function reachesPrime(a: usize): bool {
  for (let i = 9; i >= 0; i--) {
    const digit = load<i32>(a + (<usize>i << 2));
    if (digit != prime(i)) return digit > prime(i);
  }
  return true;
}

function shiftByPrime(a: usize, sign: i32): void {
  let carry = 0;
  for (let i = 0; i < 9; i++) {
    const at = a + (<usize>i << 2);
    carry += load<i32>(at) + sign * prime(i);
    store<i32>(at, carry & <i32>MASK);
    carry >>= 26;
  }
  store<i32>(a, load<i32>(a, 36) + sign * prime(9) + carry, 36);
}

/** Canonical form of an element, between 0 and p - 1. */
function canonical(out: usize, a: usize): void {
  tidy(out, a);
  if (load<i32>(out, 36) < 0) shiftByPrime(out, 1);
  if (reachesPrime(out)) shiftByPrime(out, -1);
}

export function isZero(a: usize): bool {
  canonical(TEMPORARY, a);
  let bits = 0;
  for (let i: usize = 0; i < 40; i += 4) bits |= load<i32>(TEMPORARY + i);
  return bits == 0;
}

/** Converts four words of 64 bits, least significant first, to limbs; false: a number not below p. */
export function unpack(out: usize, words: usize): bool {
  const w0 = load<u64>(words), w1 = load<u64>(words, 8), w2 = load<u64>(words, 16), w3 = load<u64>(words, 24);
  const mask = <u64>MASK;
  store<u32>(out, <u32>(w0 & mask), 0);
  store<u32>(out, <u32>((w0 >> 26) & mask), 4);
  store<u32>(out, <u32>(((w0 >> 52) | (w1 << 12)) & mask), 8);
  store<u32>(out, <u32>((w1 >> 14) & mask), 12);
  store<u32>(out, <u32>(((w1 >> 40) | (w2 << 24)) & mask), 16);
  store<u32>(out, <u32>((w2 >> 2) & mask), 20);
  store<u32>(out, <u32>((w2 >> 28) & mask), 24);
  store<u32>(out, <u32>(((w2 >> 54) | (w3 << 10)) & mask), 28);
  store<u32>(out, <u32>((w3 >> 16) & mask), 32);
  store<u32>(out, <u32>(w3 >> 42), 36);
  return !reachesPrime(out);
}

@inline
function digit(index: usize): u64 {
  return <u64>load<u32>(TEMPORARY + index * 4);
}

/** Returns the four words of an element without a conversion from or to Montgomery form. */
export function pack(words: usize, a: usize): void {
  canonical(TEMPORARY, a);
  store<u64>(words, digit(0) | (digit(1) << 26) | (digit(2) << 52), 0);
  store<u64>(words, (digit(2) >> 12) | (digit(3) << 14) | (digit(4) << 40), 8);
  store<u64>(words, (digit(4) >> 24) | (digit(5) << 2) | (digit(6) << 28) | (digit(7) << 54), 16);
  store<u64>(words, (digit(7) >> 10) | (digit(8) << 16) | (digit(9) << 42), 24);
}

/** Converts big-endian bytes to words and back. */
function reverse(out: usize, words: usize): void {
  const w0 = load<u64>(words), w1 = load<u64>(words, 8), w2 = load<u64>(words, 16), w3 = load<u64>(words, 24);
  store<u64>(out, bswap<u64>(w3), 0);
  store<u64>(out, bswap<u64>(w2), 8);
  store<u64>(out, bswap<u64>(w1), 16);
  store<u64>(out, bswap<u64>(w0), 24);
}

/** Reads 32 big-endian bytes without a conversion; false: not below p. */
export function readRaw(out: usize, bytes: usize): bool {
  reverse(WORDS, bytes);
  return unpack(out, WORDS);
}

export function read(out: usize, bytes: usize): bool {
  const valid = readRaw(out, bytes);
  mul(out, out, R_SQUARED);
  return valid;
}

/** Writes the value of an element as 32 big-endian bytes. */
export function write(bytes: usize, a: usize): void {
  memory.fill(PLAIN_ONE, 0, FP);
  store<i32>(PLAIN_ONE, 1);
  mul(PLAIN_ONE, a, PLAIN_ONE);
  pack(WORDS, PLAIN_ONE);
  reverse(bytes, WORDS);
}
