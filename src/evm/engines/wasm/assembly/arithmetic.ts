/* Multiplication, division and powers of 256-bit words, on 64-bit limbs. Knuth, TAOCP volume 2, 4.3.1, algorithms M and D. */
import { add, clear, copy, equal, isNegative, isZero, leadingZeros, less, negate, set64, subtract } from "./word";

/** High half of a product. */
@inline function high(a: u64, b: u64): u64 {
  const a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
  const middle = a1 * b0 + ((a0 * b0) >> 32);
  return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & 0xffffffff)) >> 32);
}

export function multiply(to: usize, a: usize, b: usize): void {
  const a0 = load<u64>(a), a1 = load<u64>(a, 8), a2 = load<u64>(a, 16), a3 = load<u64>(a, 24);
  const b0 = load<u64>(b), b1 = load<u64>(b, 8), b2 = load<u64>(b, 16), b3 = load<u64>(b, 24);
  const r0 = a0 * b0;
  let r1 = high(a0, b0), r2: u64 = 0, r3: u64 = 0;
  if (a1 | a2 | a3 | b1 | b2 | b3) {
    let t = a0 * b1;
    r1 += t;
    r2 = high(a0, b1) + u64(r1 < t);
    t = a1 * b0;
    r1 += t;
    t = high(a1, b0) + u64(r1 < t);
    r2 += t;
    r3 = u64(r2 < t);
    t = a0 * b2;
    r2 += t;
    r3 += high(a0, b2) + u64(r2 < t);
    t = a1 * b1;
    r2 += t;
    r3 += high(a1, b1) + u64(r2 < t);
    t = a2 * b0;
    r2 += t;
    r3 += high(a2, b0) + u64(r2 < t);
    r3 += a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0;
  }
  store<u64>(to, r0);
  store<u64>(to, r1, 8);
  store<u64>(to, r2, 16);
  store<u64>(to, r3, 24);
}

/** Dividend of up to 8 limbs with one more for the shift, which becomes the remainder; divisor; quotient. */
const U: usize = memory.data(80, 16);
const V: usize = memory.data(32, 16);
const Q: usize = memory.data(64, 16);

/** floor((2^128 - 1) / d) - 2^64 for a d with its top bit set: the factor used by `divideLimb`. */
function reciprocal(d: u64): u64 {
  const d1 = d >> 32, d0 = d & 0xffffffff;
  // (~d : ff..f) / d in two digits of 32 bits.
  const u = ~d;
  let q1 = u / d1, r = u - q1 * d1;
  while (q1 >> 32 || q1 * d0 > ((r << 32) | 0xffffffff)) {
    q1--;
    r += d1;
    if (r >> 32) break;
  }
  const rest = ((u << 32) | 0xffffffff) - q1 * d;
  let q0 = rest / d1;
  r = rest - q0 * d1;
  while (q0 >> 32 || q0 * d0 > ((r << 32) | 0xffffffff)) {
    q0--;
    r += d1;
    if (r >> 32) break;
  }
  return (q1 << 32) + q0;
}

let rest: u64 = 0;
/** (u1 : u0) / d with the reciprocal v of d, where u1 < d; the remainder is left in `rest`. */
@inline function divideLimb(u1: u64, u0: u64, d: u64, v: u64): u64 {
  const low = v * u1 + u0;
  let q = high(v, u1) + u1 + u64(low < u0) + 1;
  let r = u0 - q * d;
  if (r > low) {
    q--;
    r += d;
  }
  if (r >= d) {
    q++;
    r -= d;
  }
  rest = r;
  return q;
}

function limbs(at: usize, most: i32): i32 {
  let n = most;
  while (n > 0 && load<u64>(at + ((n - 1) << 3)) == 0) n--;
  return n;
}

function shiftUp(at: usize, n: i32, up: u64): u64 {
  if (up == 0) return 0;
  let carry: u64 = 0;
  for (let i = 0; i < n; i++) {
    const x = load<u64>(at + (i << 3));
    store<u64>(at + (i << 3), (x << up) | carry);
    carry = x >> (64 - up);
  }
  return carry;
}

/** Last divisor, its shifted form at V, its number of limbs and reciprocal, cached for loops that divide by one number. */
const DIVISOR: usize = memory.data(32, 16);
let divisorLimbs: i32 = 0;
let divisorShift: u64 = 0;
let divisorReciprocal: u64 = 0;
/** c for a divisor 2^256 - c, where c fits a limb; else 0. */
let divisorFold: u64 = 0;
function prepareDivisor(b: usize): void {
  if (divisorLimbs && equal(b, DIVISOR)) return;
  copy(DIVISOR, b);
  copy(V, b);
  divisorLimbs = limbs(V, 4);
  const top = V + ((divisorLimbs - 1) << 3);
  divisorShift = clz(load<u64>(top));
  shiftUp(V, divisorLimbs, divisorShift);
  divisorReciprocal = reciprocal(load<u64>(top));
  divisorFold = (load<u64>(b, 8) & load<u64>(b, 16) & load<u64>(b, 24)) == u64.MAX_VALUE ? 0 - load<u64>(b) : 0;
}

/** Divides the m limbs at U by the divisor, which is not zero: quotient to Q, remainder to U. */
function divideLimbs(m: i32, divisor: usize): void {
  prepareDivisor(divisor);
  const n = divisorLimbs, up = divisorShift, v = divisorReciprocal;
  clear(Q);
  clear(Q + 32);
  if (m < n) return;
  store<u64>(U + (m << 3), shiftUp(U, m, up));
  const d = load<u64>(V + ((n - 1) << 3));
  if (n == 1) {
    let r = load<u64>(U + (m << 3));
    store<u64>(U + (m << 3), 0);
    for (let i = m - 1; i >= 0; i--) {
      store<u64>(Q + (i << 3), divideLimb(r, load<u64>(U + (i << 3)), d, v));
      r = rest;
      store<u64>(U + (i << 3), 0);
    }
    store<u64>(U, r >> up);
    return;
  }
  if (n == 4) {
    const v0 = load<u64>(V), v1 = load<u64>(V, 8), v2 = load<u64>(V, 16);
    for (let j = m - n; j >= 0; j--) store<u64>(Q + (j << 3), quotientLimb4(U + (j << 3), v0, v1, v2, d, v));
  } else {
    for (let j = m - n; j >= 0; j--) store<u64>(Q + (j << 3), quotientLimb(U + (j << 3), n, d, v));
  }
  for (let i = n; i <= m; i++) store<u64>(U + (i << 3), 0);
  if (up) {
    for (let i = 0; i < n; i++) {
      const above = i + 1 < n ? load<u64>(U + ((i + 1) << 3)) << (64 - up) : 0;
      store<u64>(U + (i << 3), (load<u64>(U + (i << 3)) >> up) | above);
    }
  }
}

/** One limb of the quotient: estimated from the top limbs, corrected, its multiple of V subtracted at `u` (n + 1 limbs). */
function quotientLimb(u: usize, n: i32, d: u64, v: u64): u64 {
  const top = load<u64>(u + (n << 3)), next = load<u64>(u + ((n - 1) << 3));
  let q = u64.MAX_VALUE, r = next + d, open = r >= d;
  if (top < d) {
    q = divideLimb(top, next, d, v);
    r = rest;
    open = true;
  }
  const second = load<u64>(V + ((n - 2) << 3)), third = load<u64>(u + ((n - 2) << 3));
  while (open) {
    const h = high(q, second);
    if (h < r || (h == r && q * second <= third)) break;
    q--;
    r += d;
    open = r >= d;
  }
  let borrow: u64 = 0;
  for (let i = 0; i < n; i++) {
    const x = load<u64>(V + (i << 3)), low = q * x;
    const take = low + borrow;
    const carry = high(q, x) + u64(take < low);
    const have = load<u64>(u + (i << 3));
    store<u64>(u + (i << 3), have - take);
    borrow = carry + u64(have < take);
  }
  store<u64>(u + (n << 3), top - borrow);
  if (top >= borrow) return q;
  // The estimate was one too large, which is rare: add V back.
  let carry: u64 = 0;
  for (let i = 0; i < n; i++) {
    const x = load<u64>(u + (i << 3)), s = x + load<u64>(V + (i << 3)), r = s + carry;
    carry = u64(s < x) | u64(r < s);
    store<u64>(u + (i << 3), r);
  }
  store<u64>(u + (n << 3), load<u64>(u + (n << 3)) + carry);
  return q - 1;
}

/** The same for a divisor of four limbs, such as a field modulus: without loops and without memory between the steps. */
function quotientLimb4(u: usize, v0: u64, v1: u64, v2: u64, d: u64, v: u64): u64 {
  const u0 = load<u64>(u), u1 = load<u64>(u, 8), u2 = load<u64>(u, 16), u3 = load<u64>(u, 24), top = load<u64>(u, 32);
  let q = u64.MAX_VALUE, r = u3 + d, open = r >= d;
  if (top < d) {
    q = divideLimb(top, u3, d, v);
    r = rest;
    open = true;
  }
  while (open) {
    const h = high(q, v2);
    if (h < r || (h == r && q * v2 <= u2)) break;
    q--;
    r += d;
    open = r >= d;
  }
  // Subtract q times the divisor.
  const p0 = q * v0;
  const r0 = u0 - p0;
  let carry = high(q, v0) + u64(u0 < p0);
  const l1 = q * v1, p1 = l1 + carry;
  carry = high(q, v1) + u64(p1 < l1) + u64(u1 < p1);
  const r1 = u1 - p1;
  const l2 = q * v2, p2 = l2 + carry;
  carry = high(q, v2) + u64(p2 < l2) + u64(u2 < p2);
  const r2 = u2 - p2;
  const l3 = q * d, p3 = l3 + carry;
  carry = high(q, d) + u64(p3 < l3) + u64(u3 < p3);
  const r3 = u3 - p3;
  if (top >= carry) {
    store<u64>(u, r0);
    store<u64>(u, r1, 8);
    store<u64>(u, r2, 16);
    store<u64>(u, r3, 24);
    store<u64>(u, top - carry, 32);
    return q;
  }
  const s0 = r0 + v0, c0 = u64(s0 < r0);
  const t1 = r1 + v1, s1 = t1 + c0, c1 = u64(t1 < r1) | u64(s1 < t1);
  const t2 = r2 + v2, s2 = t2 + c1, c2 = u64(t2 < r2) | u64(s2 < t2);
  const t3 = r3 + d, s3 = t3 + c2, c3 = u64(t3 < r3) | u64(s3 < t3);
  store<u64>(u, s0);
  store<u64>(u, s1, 8);
  store<u64>(u, s2, 16);
  store<u64>(u, s3, 24);
  store<u64>(u, top - carry + c3, 32);
  return q - 1;
}

function fitsLimb(a: usize): bool {
  return (load<u64>(a, 8) | load<u64>(a, 16) | load<u64>(a, 24)) == 0;
}

export function divide(to: usize, a: usize, b: usize): void {
  if (isZero(b)) return clear(to);
  if (fitsLimb(a) && fitsLimb(b)) return set64(to, load<u64>(a) / load<u64>(b));
  copy(U, a);
  divideLimbs(limbs(U, 4), b);
  copy(to, Q);
}

export function remainder(to: usize, a: usize, b: usize): void {
  if (isZero(b)) return clear(to);
  if (fitsLimb(a) && fitsLimb(b)) return set64(to, load<u64>(a) % load<u64>(b));
  if (less(a, b)) return copy(to, a);
  copy(U, a);
  divideLimbs(limbs(U, 4), b);
  copy(to, U);
}

const LEFT: usize = memory.data(32, 16);
const RIGHT: usize = memory.data(32, 16);

function magnitudes(a: usize, b: usize): void {
  if (isNegative(a)) negate(LEFT, a); else copy(LEFT, a);
  if (isNegative(b)) negate(RIGHT, b); else copy(RIGHT, b);
}

export function divideSigned(to: usize, a: usize, b: usize): void {
  const opposite = isNegative(a) != isNegative(b);
  magnitudes(a, b);
  divide(to, LEFT, RIGHT);
  if (opposite) negate(to, to);
}

export function remainderSigned(to: usize, a: usize, b: usize): void {
  const negative = isNegative(a);
  magnitudes(a, b);
  remainder(to, LEFT, RIGHT);
  if (negative) negate(to, to);
}

export function addModulo(to: usize, a: usize, b: usize, modulus: usize): void {
  if (isZero(modulus)) return clear(to);
  add(LEFT, a, b);
  const carry = u64(less(LEFT, a));
  if (less(a, modulus) && less(b, modulus)) {
    if (carry || !less(LEFT, modulus)) subtract(to, LEFT, modulus); else copy(to, LEFT);
    return;
  }
  copy(U, LEFT);
  store<u64>(U, carry, 32);
  divideLimbs(limbs(U, 5), modulus);
  copy(to, U);
}

export function multiplyModulo(to: usize, a: usize, b: usize, modulus: usize): void {
  if (isZero(modulus)) return clear(to);
  clear(U);
  clear(U + 32);
  const y0 = load<u64>(b), y1 = load<u64>(b, 8), y2 = load<u64>(b, 16), y3 = load<u64>(b, 24);
  for (let i = 0; i < 32; i += 8) {
    const x = load<u64>(a + i), at = U + i;
    if (x == 0) continue;
    const h0 = load<u64>(at), l0 = x * y0, s0 = h0 + l0;
    store<u64>(at, s0);
    let carry = high(x, y0) + u64(s0 < h0);
    const h1 = load<u64>(at, 8), l1 = x * y1, m1 = l1 + carry, s1 = h1 + m1;
    store<u64>(at, s1, 8);
    carry = high(x, y1) + u64(m1 < l1) + u64(s1 < h1);
    const h2 = load<u64>(at, 16), l2 = x * y2, m2 = l2 + carry, s2 = h2 + m2;
    store<u64>(at, s2, 16);
    carry = high(x, y2) + u64(m2 < l2) + u64(s2 < h2);
    const h3 = load<u64>(at, 24), l3 = x * y3, m3 = l3 + carry, s3 = h3 + m3;
    store<u64>(at, s3, 24);
    store<u64>(at, high(x, y3) + u64(m3 < l3) + u64(s3 < h3), 32);
  }
  prepareDivisor(modulus);
  if (divisorFold) return fold(to);
  divideLimbs(limbs(U, 8), modulus);
  copy(to, U);
}

/** The product at U modulo 2^256 - c, such as the field of secp256k1: 2^256 is c, so the upper half is multiplied by c and added, twice. */
function fold(to: usize): void {
  const c = divisorFold;
  const x0 = load<u64>(U, 32), x1 = load<u64>(U, 40), x2 = load<u64>(U, 48), x3 = load<u64>(U, 56);
  const p0 = x0 * c, s0 = load<u64>(U) + p0;
  let carry = high(x0, c) + u64(s0 < p0);
  const p1 = x1 * c, t1 = p1 + carry, s1 = load<u64>(U, 8) + t1;
  carry = high(x1, c) + u64(t1 < p1) + u64(s1 < t1);
  const p2 = x2 * c, t2 = p2 + carry, s2 = load<u64>(U, 16) + t2;
  carry = high(x2, c) + u64(t2 < p2) + u64(s2 < t2);
  const p3 = x3 * c, t3 = p3 + carry, s3 = load<u64>(U, 24) + t3;
  carry = high(x3, c) + u64(t3 < p3) + u64(s3 < t3);
  const q0 = carry * c, r0 = s0 + q0;
  const q1 = high(carry, c) + u64(r0 < q0), r1 = s1 + q1;
  const c1 = u64(r1 < q1), r2 = s2 + c1;
  const c2 = u64(r2 < c1), r3 = s3 + c2;
  store<u64>(to, r0);
  store<u64>(to, r1, 8);
  store<u64>(to, r2, 16);
  store<u64>(to, r3, 24);
  // One multiple of 2^256 or of the divisor may be left: c more is 2^256 - c less.
  const isOver = r3 < c2 || ((r1 & r2 & r3) == u64.MAX_VALUE && r0 >= 0 - c);
  if (isOver) addLimb(to, c);
}
function addLimb(to: usize, value: u64): void {
  let carry = value;
  for (let i: usize = 0; i < 32 && carry; i += 8) {
    const sum = load<u64>(to + i) + carry;
    store<u64>(to + i, sum);
    carry = u64(sum < carry);
  }
}

/** `to` may be `base` or `exponent`. */
export function power(to: usize, base: usize, exponent: usize): void {
  copy(LEFT, base);
  copy(RIGHT, exponent);
  set64(to, 1);
  const bits = 256 - <i32>leadingZeros(RIGHT);
  for (let i = bits - 1; i >= 0; i--) {
    if (i != bits - 1) multiply(to, to, to);
    if ((load<u64>(RIGHT + ((i >> 6) << 3)) >> (i & 63)) & 1) multiply(to, to, LEFT);
  }
}
