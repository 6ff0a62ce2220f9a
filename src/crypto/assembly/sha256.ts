/* SHA-256 (FIPS 180-4). */
/** Message schedule of a block, with the round constants added. */
const W: usize = memory.data(256, 16);
/** The last block or two, with their padding. */
const TAIL: usize = memory.data(128, 16);
const STATE: usize = memory.data(32, 16);

const K: StaticArray<u32> = [
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

const START: StaticArray<u32> = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

@inline
function rotated(x: v128, bits: i32): v128 { return v128.or(i32x4.shr_u(x, bits), i32x4.shl(x, 32 - bits)); }
@inline
function sigma0(x: v128): v128 { return v128.xor(v128.xor(rotated(x, 7), rotated(x, 18)), i32x4.shr_u(x, 3)); }
@inline
function sigma1(x: v128): v128 { return v128.xor(v128.xor(rotated(x, 17), rotated(x, 19)), i32x4.shr_u(x, 10)); }

/** Stores four words with their round constants. */
@inline
function keep(at: usize, words: v128): void {
  v128.store(W + at, i32x4.add(words, v128.load(changetype<usize>(K) + at)));
}

/** Four words from the sixteen before them; the second two need the first two. */
@inline
function following(x0: v128, x1: v128, x2: v128, x3: v128): v128 {
  const zero = i32x4.splat(0);
  const sum = i32x4.add(i32x4.add(x0, sigma0(v128.shuffle<i32>(x0, x1, 1, 2, 3, 4))), v128.shuffle<i32>(x2, x3, 1, 2, 3, 4));
  const first = i32x4.add(sum, v128.shuffle<i32>(sigma1(x3), zero, 2, 3, 4, 5));
  return i32x4.add(first, v128.shuffle<i32>(zero, sigma1(first), 0, 1, 4, 5));
}

@inline
function fourWords(at: usize): v128 {
  return v128.swizzle(v128.load(at), i8x16(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
}

/** Message schedule, four words at a time. */
function schedule(block: usize): void {
  let x0 = fourWords(block), x1 = fourWords(block + 16), x2 = fourWords(block + 32), x3 = fourWords(block + 48);
  keep(0, x0);
  keep(16, x1);
  keep(32, x2);
  keep(48, x3);
  for (let at: usize = 64; at < 256; at += 64) {
    x0 = following(x0, x1, x2, x3); keep(at, x0);
    x1 = following(x1, x2, x3, x0); keep(at + 16, x1);
    x2 = following(x2, x3, x0, x1); keep(at + 32, x2);
    x3 = following(x3, x0, x1, x2); keep(at + 48, x3);
  }
}

/** First sum of a round, without the variable that it replaces. */
@inline
function first(e: u32, f: u32, g: u32, at: usize): u32 {
  const s1 = rotr<u32>(e, 6) ^ rotr<u32>(e, 11) ^ rotr<u32>(e, 25);
  return s1 + (g ^ (e & (f ^ g))) + load<u32>(at);
}
/** `ab` and `bc` are the differences of neighbours, of which each is used twice. */
@inline
function second(a: u32, b: u32, ab: u32, bc: u32): u32 {
  return (rotr<u32>(a, 2) ^ rotr<u32>(a, 13) ^ rotr<u32>(a, 22)) + (b ^ (ab & bc));
}

/** Takes a block into the state. */
function compress(block: usize): void {
  schedule(block);
  let a = load<u32>(STATE), b = load<u32>(STATE, 4), c = load<u32>(STATE, 8), d = load<u32>(STATE, 12);
  let e = load<u32>(STATE, 16), f = load<u32>(STATE, 20), g = load<u32>(STATE, 24), h = load<u32>(STATE, 28);
  let x = b ^ c, y: u32 = 0;
  for (let at = W; at < W + 256; at += 32) {
    y = a ^ b; h += first(e, f, g, at); d += h; h += second(a, b, y, x);
    x = h ^ a; g += first(d, e, f, at + 4); c += g; g += second(h, a, x, y);
    y = g ^ h; f += first(c, d, e, at + 8); b += f; f += second(g, h, y, x);
    x = f ^ g; e += first(b, c, d, at + 12); a += e; e += second(f, g, x, y);
    y = e ^ f; d += first(a, b, c, at + 16); h += d; d += second(e, f, y, x);
    x = d ^ e; c += first(h, a, b, at + 20); g += c; c += second(d, e, x, y);
    y = c ^ d; b += first(g, h, a, at + 24); f += b; b += second(c, d, y, x);
    x = b ^ c; a += first(f, g, h, at + 28); e += a; a += second(b, c, x, y);
  }
  store<u32>(STATE, load<u32>(STATE) + a);
  store<u32>(STATE, load<u32>(STATE, 4) + b, 4);
  store<u32>(STATE, load<u32>(STATE, 8) + c, 8);
  store<u32>(STATE, load<u32>(STATE, 12) + d, 12);
  store<u32>(STATE, load<u32>(STATE, 16) + e, 16);
  store<u32>(STATE, load<u32>(STATE, 20) + f, 20);
  store<u32>(STATE, load<u32>(STATE, 24) + g, 24);
  store<u32>(STATE, load<u32>(STATE, 28) + h, 28);
}

/** SHA-256 of `size` bytes, written big-endian to `out`. */
export function sha256(data: usize, size: usize, out: usize): void {
  memory.copy(STATE, changetype<usize>(START), 32);
  const whole = size & ~63;
  for (let at: usize = 0; at < whole; at += 64) compress(data + at);
  const rest = size - whole, end: usize = rest < 56 ? 64 : 128;
  memory.fill(TAIL, 0, 128);
  memory.copy(TAIL, data + whole, rest);
  store<u8>(TAIL + rest, 0x80);
  store<u64>(TAIL + end - 8, bswap<u64>(<u64>size << 3));
  compress(TAIL);
  if (end == 128) compress(TAIL + 64);
  for (let i: usize = 0; i < 32; i += 4) store<u32>(out + i, bswap<u32>(load<u32>(STATE + i)));
}
