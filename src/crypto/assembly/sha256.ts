/* SHA-256 (FIPS 180-4). */
/** Message schedule of a block. */
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

// @ts-ignore: decorator
@inline
function word(i: u32): u32 { return load<u32>(W + (<usize>i << 2)); }

function schedule(block: usize): void {
  for (let i: usize = 0; i < 64; i += 4) store<u32>(W + i, bswap<u32>(load<u32>(block + i)));
  for (let i: u32 = 16; i < 64; i++) {
    const w15 = word(i - 15), w2 = word(i - 2);
    const s0 = rotr<u32>(w15, 7) ^ rotr<u32>(w15, 18) ^ (w15 >> 3);
    const s1 = rotr<u32>(w2, 17) ^ rotr<u32>(w2, 19) ^ (w2 >> 10);
    store<u32>(W + (<usize>i << 2), word(i - 16) + s0 + word(i - 7) + s1);
  }
}

/** First sum of a round, without the variable that it replaces. */
// @ts-ignore: decorator
@inline
function first(e: u32, f: u32, g: u32, i: u32): u32 {
  const s1 = rotr<u32>(e, 6) ^ rotr<u32>(e, 11) ^ rotr<u32>(e, 25);
  return s1 + (g ^ (e & (f ^ g))) + load<u32>(changetype<usize>(K) + (<usize>i << 2)) + word(i);
}
// @ts-ignore: decorator
@inline
function second(a: u32, b: u32, c: u32): u32 {
  return (rotr<u32>(a, 2) ^ rotr<u32>(a, 13) ^ rotr<u32>(a, 22)) + ((a & b) | (c & (a | b)));
}

/** Takes a block into the state. */
function compress(block: usize): void {
  schedule(block);
  let a = load<u32>(STATE), b = load<u32>(STATE, 4), c = load<u32>(STATE, 8), d = load<u32>(STATE, 12);
  let e = load<u32>(STATE, 16), f = load<u32>(STATE, 20), g = load<u32>(STATE, 24), h = load<u32>(STATE, 28);
  for (let i: u32 = 0; i < 64; i += 8) {
    h += first(e, f, g, i); d += h; h += second(a, b, c);
    g += first(d, e, f, i + 1); c += g; g += second(h, a, b);
    f += first(c, d, e, i + 2); b += f; f += second(g, h, a);
    e += first(b, c, d, i + 3); a += e; e += second(f, g, h);
    d += first(a, b, c, i + 4); h += d; d += second(e, f, g);
    c += first(h, a, b, i + 5); g += c; c += second(d, e, f);
    b += first(g, h, a, i + 6); f += b; b += second(c, d, e);
    a += first(f, g, h, i + 7); e += a; a += second(b, c, d);
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
