import { mul, pack, tidy } from "./field";
import { FP, R_SQUARED } from "./memory";

/*
 * 1 / a by a binary Euclid on approximations (Pornin 2020, "Optimized Binary GCD for Modular Inversion", algorithm 2): the lowest 31 bits
 * and the highest 33 of both numbers decide 31 steps, whose effect is a matrix of small factors; then the matrix is applied to the whole
 * numbers. Numbers are nine digits of 31 bits, the last one signed. Invariants modulo p, with y the input: x = y u and z = y v.
 */
const DIGITS: usize = 9;
const SIZE: usize = 72;
const MASK: i64 = 0x7fffffff;
/** -1 / p mod 2^31. */
const NEGATIVE_INVERSE: u32 = 0x64866389;
/** Added to a pair of factors, so that neither half is negative. */
const BIAS: i64 = 0x7fffffff7fffffff;
const HALF: i64 = 0x7fffffff;

const PRIME: StaticArray<i64> = [
  0x587cfd47, 0x7841182d, 0x21c72a34, 0x3c0b548b, 0x181585d9, 0x0a08b6d0, 0x4c680a6e, 0x32273970, 0x30,
];
const X: usize = memory.data(72, 16);
const Z: usize = memory.data(72, 16);
const U: usize = memory.data(72, 16);
const V: usize = memory.data(72, 16);
const NEXT: usize = memory.data(72, 16);
const WORDS: usize = memory.data(32, 16);

@inline
function digit(at: usize, index: usize): i64 { return load<i64>(at + (index << 3)); }

/** Splits four words of 64 bits into digits. */
function split(out: usize, words: usize): void {
  const w0 = load<u64>(words), w1 = load<u64>(words, 8), w2 = load<u64>(words, 16), w3 = load<u64>(words, 24);
  const mask = <u64>MASK;
  store<u64>(out, w0 & mask, 0);
  store<u64>(out, (w0 >> 31) & mask, 8);
  store<u64>(out, ((w0 >> 62) | (w1 << 2)) & mask, 16);
  store<u64>(out, (w1 >> 29) & mask, 24);
  store<u64>(out, ((w1 >> 60) | (w2 << 4)) & mask, 32);
  store<u64>(out, (w2 >> 27) & mask, 40);
  store<u64>(out, ((w2 >> 58) | (w3 << 6)) & mask, 48);
  store<u64>(out, (w3 >> 25) & mask, 56);
  store<u64>(out, w3 >> 56, 64);
}

function isZero(at: usize): bool {
  let bits: i64 = 0;
  for (let i: usize = 0; i < DIGITS; i++) bits |= digit(at, i);
  return bits == 0;
}

/** Factors of the last 31 steps, f in the lower half and g in the upper: x is to become f0 x + g0 z, and z f1 x + g1 z. */
let factors0: i64 = 0;
let factors1: i64 = 0;

/** The lowest 31 bits of the number, and 33 bits from the digit `top` down without its highest `skipped`. */
@inline
function approximation(at: usize, top: usize, skipped: i64): u64 {
  const high = <u64>(digit(at, top) << 33) | <u64>(digit(at, top - 1) << 2) | <u64>(digit(at, top - 2) >> 29);
  return ((high >> <u64>(31 - skipped)) << 31) | <u64>digit(at, 0);
}

/** Runs 31 steps: an even x is halved; of an odd one z is subtracted first, the smaller one in the place of z. */
function takeSteps(): void {
  let top: usize = DIGITS - 1;
  while (top > 1 && (digit(X, top) | digit(Z, top)) == 0) top--;
  let x: u64, z: u64;
  if (top < 2) {
    x = <u64>(digit(X, 0) | (digit(X, 1) << 31));
    z = <u64>(digit(Z, 0) | (digit(Z, 1) << 31));
  } else {
    // Both parts together are 64 bits of the number at least.
    const skipped = min<i64>(clz<i64>(digit(X, top) | digit(Z, top)) - 33, top == 2 ? 29 : 30);
    x = approximation(X, top, skipped);
    z = approximation(Z, top, skipped);
  }
  let a: i64 = 1, b: i64 = 1 << 32;
  for (let i = 0; i < 31; i++) {
    // Without branches, which would be mispredicted.
    const odd = 0 - <i64>(x & 1), swaps = odd & (0 - i64(x < z));
    const dx = (x ^ z) & <u64>swaps;
    x ^= dx;
    z ^= dx;
    const da = (a ^ b) & swaps;
    a ^= da;
    b ^= da;
    x = (x - (z & <u64>odd)) >> 1;
    a -= b & odd;
    b <<= 1;
  }
  factors0 = a;
  factors1 = b;
}

@inline
function lower(factors: i64): i64 { return ((factors + BIAS) & 0xffffffff) - HALF; }
@inline
function upper(factors: i64): i64 { return <i64>(<u64>(factors + BIAS) >> 32) - HALF; }

/** out = |f x + g z| / 2^31; returns true when the sum was negative. */
function combine(out: usize, f: i64, g: i64): bool {
  let carry = (digit(X, 0) * f + digit(Z, 0) * g) >> 31;
  for (let i: usize = 1; i < DIGITS; i++) {
    carry += digit(X, i) * f + digit(Z, i) * g;
    store<i64>(out + (i << 3) - 8, carry & MASK);
    carry >>= 31;
  }
  store<i64>(out, carry, SIZE - 8);
  if (carry >= 0) return false;
  let borrow: i64 = 0;
  for (let i: usize = 0; i < SIZE; i += 8) {
    borrow -= load<i64>(out + i);
    store<i64>(out + i, i == SIZE - 8 ? borrow : borrow & MASK);
    borrow >>= 31;
  }
  return true;
}

/** out = (f u + g v) / 2^31 modulo p; its absolute value grows by p at most. */
function combineModulo(out: usize, f: i64, g: i64): void {
  let carry = digit(U, 0) * f + digit(V, 0) * g;
  const multiple = <i64>(<u32>carry * NEGATIVE_INVERSE) & MASK;
  carry = (carry + multiple * PRIME[0]) >> 31;
  for (let i: usize = 1; i < DIGITS; i++) {
    carry += digit(U, i) * f + digit(V, i) * g + multiple * load<i64>(changetype<usize>(PRIME) + (i << 3));
    store<i64>(out + (i << 3) - 8, carry & MASK);
    carry >>= 31;
  }
  store<i64>(out, carry, SIZE - 8);
}

/** Applies the factors to all four numbers. */
function apply(): void {
  let f0 = lower(factors0), g0 = upper(factors0), f1 = lower(factors1), g1 = upper(factors1);
  const flips0 = combine(NEXT, f0, g0), flips1 = combine(Z, f1, g1);
  memory.copy(X, NEXT, SIZE);
  if (flips0) { f0 = -f0; g0 = -g0; }
  if (flips1) { f1 = -f1; g1 = -g1; }
  combineModulo(NEXT, f0, g0);
  combineModulo(V, f1, g1);
  memory.copy(U, NEXT, SIZE);
}

/** Converts digits to an element of a value below 20. */
function join(out: usize, at: usize): void {
  let bits: i64 = 0, count: i64 = 0;
  let limb: usize = 0;
  for (let i: usize = 0; i < DIGITS; i++) {
    bits += digit(at, i) << count;
    count += 31;
    while (count >= 26 && limb < 9) {
      store<i32>(out + (limb << 2), <i32>(bits & 0x3ffffff));
      bits >>= 26;
      count -= 26;
      limb++;
    }
  }
  store<i32>(out, <i32>bits, 36);
}

/** out = 1 / a; 0 for 0. */
export function inverse(out: usize, a: usize): void {
  pack(WORDS, a);
  split(X, WORDS);
  if (isZero(X)) {
    memory.fill(out, 0, FP);
    return;
  }
  memory.copy(Z, changetype<usize>(PRIME), SIZE);
  memory.fill(U, 0, SIZE);
  memory.fill(V, 0, SIZE);
  store<i64>(U, 1);
  // Each turn shortens the two numbers by 31 bits together; with x at 0, z is 1.
  while (!isZero(X)) {
    takeSteps();
    apply();
  }
  join(out, V);
  store<i32>(out, 0, 40);
  store<i32>(out, 0, 44);
  tidy(out, out);
  // The input was a R and this is 1 / (a R); each product divides by R.
  mul(out, out, R_SQUARED);
  mul(out, out, R_SQUARED);
}
