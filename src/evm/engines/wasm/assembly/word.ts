/* 256-bit words: four u64 limbs in memory, lowest first. Functions take addresses; results may overlap operands unless said. */

@inline export function copy(to: usize, from: usize): void {
  const low = v128.load(from);
  const high = v128.load(from, 16);
  v128.store(to, low);
  v128.store(to, high, 16);
}
@inline export function clear(to: usize): void {
  v128.store(to, i64x2.splat(0));
  v128.store(to, i64x2.splat(0), 16);
}
@inline export function set64(to: usize, value: u64): void {
  store<u64>(to, value);
  store<u64>(to, 0, 8);
  v128.store(to, i64x2.splat(0), 16);
}
@inline export function fill64(to: usize, value: u64): void {
  v128.store(to, i64x2.splat(value));
  v128.store(to, i64x2.splat(value), 16);
}
@inline export function isZero(a: usize): bool {
  return (load<u64>(a) | load<u64>(a, 8) | load<u64>(a, 16) | load<u64>(a, 24)) == 0;
}
@inline export function equal(a: usize, b: usize): bool {
  return ((load<u64>(a) ^ load<u64>(b)) | (load<u64>(a, 8) ^ load<u64>(b, 8)) | (load<u64>(a, 16) ^ load<u64>(b, 16)) | (load<u64>(a, 24) ^ load<u64>(b, 24))) == 0;
}
/** Value if it fits into 64 bits, else the largest u64. */
@inline export function toSize(a: usize): u64 {
  return (load<u64>(a, 8) | load<u64>(a, 16) | load<u64>(a, 24)) == 0 ? load<u64>(a) : u64.MAX_VALUE;
}
@inline function reversed(v: v128): v128 {
  return v128.shuffle<u8>(v, v, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
}
/** Conversion from or to 32 big-endian bytes. */
@inline export function swapBytes(to: usize, from: usize): void {
  const high = reversed(v128.load(from));
  const low = reversed(v128.load(from, 16));
  v128.store(to, low);
  v128.store(to, high, 16);
}
@inline export function add(to: usize, a: usize, b: usize): void {
  const a0 = load<u64>(a), r0 = a0 + load<u64>(b);
  const a1 = load<u64>(a, 8), s1 = a1 + load<u64>(b, 8), r1 = s1 + u64(r0 < a0);
  const c1 = u64(s1 < a1) | u64(r1 < s1);
  const a2 = load<u64>(a, 16), s2 = a2 + load<u64>(b, 16), r2 = s2 + c1;
  const c2 = u64(s2 < a2) | u64(r2 < s2);
  const r3 = load<u64>(a, 24) + load<u64>(b, 24) + c2;
  store<u64>(to, r0);
  store<u64>(to, r1, 8);
  store<u64>(to, r2, 16);
  store<u64>(to, r3, 24);
}
@inline export function subtract(to: usize, a: usize, b: usize): void {
  const a0 = load<u64>(a), b0 = load<u64>(b), r0 = a0 - b0;
  const a1 = load<u64>(a, 8), b1 = load<u64>(b, 8), c0 = u64(a0 < b0);
  const s1 = a1 - b1, r1 = s1 - c0, c1 = u64(a1 < b1) | u64(s1 < c0);
  const a2 = load<u64>(a, 16), b2 = load<u64>(b, 16);
  const s2 = a2 - b2, r2 = s2 - c1, c2 = u64(a2 < b2) | u64(s2 < c1);
  const r3 = load<u64>(a, 24) - load<u64>(b, 24) - c2;
  store<u64>(to, r0);
  store<u64>(to, r1, 8);
  store<u64>(to, r2, 16);
  store<u64>(to, r3, 24);
}
@inline export function less(a: usize, b: usize): bool {
  let x = load<u64>(a, 24), y = load<u64>(b, 24);
  if (x != y) return x < y;
  x = load<u64>(a, 16); y = load<u64>(b, 16);
  if (x != y) return x < y;
  x = load<u64>(a, 8); y = load<u64>(b, 8);
  if (x != y) return x < y;
  return load<u64>(a) < load<u64>(b);
}
@inline export function isNegative(a: usize): bool { return load<i64>(a, 24) < 0; }
@inline export function lessSigned(a: usize, b: usize): bool {
  const x = load<i64>(a, 24), y = load<i64>(b, 24);
  return (x ^ y) < 0 ? x < 0 : less(a, b);
}
export function negate(to: usize, a: usize): void {
  const x0 = ~load<u64>(a) + 1, c0 = u64(x0 == 0);
  const x1 = ~load<u64>(a, 8) + c0, c1 = u64(c0 & u64(x1 == 0));
  const x2 = ~load<u64>(a, 16) + c1, c2 = u64(c1 & u64(x2 == 0));
  const x3 = ~load<u64>(a, 24) + c2;
  store<u64>(to, x0);
  store<u64>(to, x1, 8);
  store<u64>(to, x2, 16);
  store<u64>(to, x3, 24);
}
/** Number of bytes without leading zeros. */
export function byteLength(a: usize): u64 {
  for (let limb: usize = 32; limb > 0; limb -= 8) {
    const x = load<u64>(a + limb - 8);
    if (x) return <u64>limb - (clz(x) >> 3);
  }
  return 0;
}
export function leadingZeros(a: usize): u64 {
  for (let limb: usize = 4; limb > 0; limb--) {
    const x = load<u64>(a + (limb << 3) - 8);
    if (x) return ((4 - <u64>limb) << 6) + clz(x);
  }
  return 256;
}

const WIDE: usize = memory.data(64, 16);

/** `a` shifted to the left by the word at `by`. */
export function shiftLeft(to: usize, by: usize, a: usize): void {
  const bits = toSize(by);
  if (bits >= 256) return clear(to);
  clear(WIDE);
  copy(WIDE + 32, a);
  const from = WIDE + 32 - (<usize>(bits >> 6) << 3), up = bits & 63;
  if (up == 0) return copy(to, from);
  const down = 64 - up;
  const x0 = load<u64>(from), x1 = load<u64>(from, 8), x2 = load<u64>(from, 16), x3 = load<u64>(from, 24);
  store<u64>(to, x0 << up);
  store<u64>(to, (x1 << up) | (x0 >> down), 8);
  store<u64>(to, (x2 << up) | (x1 >> down), 16);
  store<u64>(to, (x3 << up) | (x2 >> down), 24);
}
/** `a` shifted to the right; the upper bits are filled from `above`: all zeros or all ones. */
export function shiftRight(to: usize, by: usize, a: usize, above: u64): void {
  const bits = toSize(by);
  if (bits >= 256) return fill64(to, above);
  copy(WIDE, a);
  fill64(WIDE + 32, above);
  const from = WIDE + (<usize>(bits >> 6) << 3), down = bits & 63;
  if (down == 0) return copy(to, from);
  const up = 64 - down;
  const x0 = load<u64>(from), x1 = load<u64>(from, 8), x2 = load<u64>(from, 16), x3 = load<u64>(from, 24);
  store<u64>(to, (x0 >> down) | (x1 << up));
  store<u64>(to, (x1 >> down) | (x2 << up), 8);
  store<u64>(to, (x2 >> down) | (x3 << up), 16);
  store<u64>(to, (x3 >> down) | (above << up), 24);
}
/** Extends the sign of the number in the lowest `at` + 1 bytes, in place. */
export function signExtend(value: usize, at: usize): void {
  const size = toSize(at);
  if (size >= 31) return;
  const byte = value + <usize>size;
  memory.fill(byte + 1, load<i8>(byte) < 0 ? 0xff : 0, 31 - <usize>size);
}
