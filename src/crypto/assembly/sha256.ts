/* SHA-256 (FIPS 180-4) of inputs shorter than one block less its padding: 55 bytes at most. */
const W: usize = memory.data(64, 16);
const BLOCK: usize = memory.data(64, 16);

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

/** Word of the message schedule, in a ring of sixteen. */
// @ts-ignore: decorator
@inline
function word(i: u32): u32 {
  if (i < 16) return load<u32>(W + (<usize>i << 2));
  const w15 = load<u32>(W + (<usize>((i + 1) & 15) << 2));
  const w2 = load<u32>(W + (<usize>((i + 14) & 15) << 2));
  const s0 = rotr<u32>(w15, 7) ^ rotr<u32>(w15, 18) ^ (w15 >> 3);
  const s1 = rotr<u32>(w2, 17) ^ rotr<u32>(w2, 19) ^ (w2 >> 10);
  const at = W + (<usize>(i & 15) << 2);
  const value = load<u32>(at) + s0 + load<u32>(W + (<usize>((i + 9) & 15) << 2)) + s1;
  store<u32>(at, value);
  return value;
}

/** SHA-256 of `size` bytes, at most 55, written big-endian to `out`. */
export function sha256(data: usize, size: usize, out: usize): void {
  memory.fill(BLOCK, 0, 64);
  memory.copy(BLOCK, data, size);
  store<u8>(BLOCK + size, 0x80);
  store<u32>(BLOCK, bswap<u32>(<u32>(size << 3)), 60);
  for (let i: usize = 0; i < 64; i += 4) store<u32>(W + i, bswap<u32>(load<u32>(BLOCK + i)));
  let a: u32 = 0x6a09e667, b: u32 = 0xbb67ae85, c: u32 = 0x3c6ef372, d: u32 = 0xa54ff53a;
  let e: u32 = 0x510e527f, f: u32 = 0x9b05688c, g: u32 = 0x1f83d9ab, h: u32 = 0x5be0cd19;
  const k = changetype<usize>(K);
  for (let i: u32 = 0; i < 64; i++) {
    const s1 = rotr<u32>(e, 6) ^ rotr<u32>(e, 11) ^ rotr<u32>(e, 25);
    const t1 = h + s1 + (g ^ (e & (f ^ g))) + load<u32>(k + (<usize>i << 2)) + word(i);
    const s0 = rotr<u32>(a, 2) ^ rotr<u32>(a, 13) ^ rotr<u32>(a, 22);
    const t2 = s0 + ((a & b) | (c & (a | b)));
    h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
  }
  store<u32>(out, bswap<u32>(a + 0x6a09e667), 0);
  store<u32>(out, bswap<u32>(b + 0xbb67ae85), 4);
  store<u32>(out, bswap<u32>(c + 0x3c6ef372), 8);
  store<u32>(out, bswap<u32>(d + 0xa54ff53a), 12);
  store<u32>(out, bswap<u32>(e + 0x510e527f), 16);
  store<u32>(out, bswap<u32>(f + 0x9b05688c), 20);
  store<u32>(out, bswap<u32>(g + 0x1f83d9ab), 24);
  store<u32>(out, bswap<u32>(h + 0x5be0cd19), 28);
}
