/*
 * Compression function F of BLAKE2b with a number of rounds (RFC 7693 section 3.2, EIP-152). The sixteen words of the working
 * vector are locals; a round reads its message words through a table of byte offsets. The rounds can be done in parts.
 */
/**
 * State of one computation, contiguous so that it can be saved and restored as a whole: h (64 bytes), m (128) and t (16), which the caller
 * writes, little-endian, and the working vector. h is the result.
 */
export const BLOCK: usize = memory.data(336, 16);
export const BLOCK_SIZE: usize = 336;
const M: usize = BLOCK + 64;
const T: usize = M + 128;
const V: usize = T + 16;

const SIGMA: StaticArray<u8> = [
  0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120,
  112, 80, 32, 64, 72, 120, 104, 48, 8, 96, 0, 16, 88, 56, 40, 24,
  88, 64, 96, 0, 40, 16, 120, 104, 80, 112, 24, 48, 56, 8, 72, 32,
  56, 72, 24, 8, 104, 96, 88, 112, 16, 48, 40, 80, 32, 0, 120, 64,
  72, 0, 40, 56, 16, 32, 80, 120, 112, 8, 88, 96, 48, 64, 24, 104,
  16, 96, 48, 80, 0, 88, 64, 24, 32, 104, 56, 40, 120, 112, 8, 72,
  96, 40, 8, 120, 112, 104, 32, 80, 0, 56, 48, 24, 72, 16, 64, 88,
  104, 88, 56, 112, 96, 8, 24, 72, 40, 0, 120, 32, 64, 48, 16, 80,
  48, 120, 112, 72, 88, 24, 0, 64, 96, 16, 104, 56, 8, 32, 80, 40,
  80, 16, 64, 32, 56, 48, 8, 40, 120, 88, 72, 112, 24, 96, 104, 0,
];

const IV0: u64 = 0x6a09e667f3bcc908;
const IV1: u64 = 0xbb67ae8584caa73b;
const IV2: u64 = 0x3c6ef372fe94f82b;
const IV3: u64 = 0xa54ff53a5f1d36f1;
const IV4: u64 = 0x510e527fade682d1;
const IV5: u64 = 0x9b05688c2b3e6c1f;
const IV6: u64 = 0x1f83d9abfb41bd6b;
const IV7: u64 = 0x5be0cd19137e2179;

@inline
function word(sigma: usize, index: usize): u64 {
  return load<u64>(M + <usize>load<u8>(sigma + index));
}

/** Fills the working vector from h, t and the initial values. */
export function begin(isLast: bool): void {
  memory.copy(V, BLOCK, 64);
  store<u64>(V, IV0, 64); store<u64>(V, IV1, 72); store<u64>(V, IV2, 80); store<u64>(V, IV3, 88);
  store<u64>(V, IV4 ^ load<u64>(T, 0), 96); store<u64>(V, IV5 ^ load<u64>(T, 8), 104);
  store<u64>(V, isLast ? ~IV6 : IV6, 112); store<u64>(V, IV7, 120);
}

/** Runs `count` rounds; the first of them has the number `done`. */
export function rounds(done: u32, count: u32): void {
  let v0 = load<u64>(V, 0), v1 = load<u64>(V, 8), v2 = load<u64>(V, 16), v3 = load<u64>(V, 24);
  let v4 = load<u64>(V, 32), v5 = load<u64>(V, 40), v6 = load<u64>(V, 48), v7 = load<u64>(V, 56);
  let v8 = load<u64>(V, 64), v9 = load<u64>(V, 72), v10 = load<u64>(V, 80), v11 = load<u64>(V, 88);
  let v12 = load<u64>(V, 96), v13 = load<u64>(V, 104), v14 = load<u64>(V, 112), v15 = load<u64>(V, 120);
  const first = changetype<usize>(SIGMA);
  const end = first + 160;
  let s = first + <usize>(done % 10) * 16;
  for (let round: u32 = 0; round < count; round++) {
    v0 = v0 + v4 + word(s, 0); v12 = rotr<u64>(v12 ^ v0, 32); v8 = v8 + v12; v4 = rotr<u64>(v4 ^ v8, 24);
    v0 = v0 + v4 + word(s, 1); v12 = rotr<u64>(v12 ^ v0, 16); v8 = v8 + v12; v4 = rotr<u64>(v4 ^ v8, 63);
    v1 = v1 + v5 + word(s, 2); v13 = rotr<u64>(v13 ^ v1, 32); v9 = v9 + v13; v5 = rotr<u64>(v5 ^ v9, 24);
    v1 = v1 + v5 + word(s, 3); v13 = rotr<u64>(v13 ^ v1, 16); v9 = v9 + v13; v5 = rotr<u64>(v5 ^ v9, 63);
    v2 = v2 + v6 + word(s, 4); v14 = rotr<u64>(v14 ^ v2, 32); v10 = v10 + v14; v6 = rotr<u64>(v6 ^ v10, 24);
    v2 = v2 + v6 + word(s, 5); v14 = rotr<u64>(v14 ^ v2, 16); v10 = v10 + v14; v6 = rotr<u64>(v6 ^ v10, 63);
    v3 = v3 + v7 + word(s, 6); v15 = rotr<u64>(v15 ^ v3, 32); v11 = v11 + v15; v7 = rotr<u64>(v7 ^ v11, 24);
    v3 = v3 + v7 + word(s, 7); v15 = rotr<u64>(v15 ^ v3, 16); v11 = v11 + v15; v7 = rotr<u64>(v7 ^ v11, 63);
    v0 = v0 + v5 + word(s, 8); v15 = rotr<u64>(v15 ^ v0, 32); v10 = v10 + v15; v5 = rotr<u64>(v5 ^ v10, 24);
    v0 = v0 + v5 + word(s, 9); v15 = rotr<u64>(v15 ^ v0, 16); v10 = v10 + v15; v5 = rotr<u64>(v5 ^ v10, 63);
    v1 = v1 + v6 + word(s, 10); v12 = rotr<u64>(v12 ^ v1, 32); v11 = v11 + v12; v6 = rotr<u64>(v6 ^ v11, 24);
    v1 = v1 + v6 + word(s, 11); v12 = rotr<u64>(v12 ^ v1, 16); v11 = v11 + v12; v6 = rotr<u64>(v6 ^ v11, 63);
    v2 = v2 + v7 + word(s, 12); v13 = rotr<u64>(v13 ^ v2, 32); v8 = v8 + v13; v7 = rotr<u64>(v7 ^ v8, 24);
    v2 = v2 + v7 + word(s, 13); v13 = rotr<u64>(v13 ^ v2, 16); v8 = v8 + v13; v7 = rotr<u64>(v7 ^ v8, 63);
    v3 = v3 + v4 + word(s, 14); v14 = rotr<u64>(v14 ^ v3, 32); v9 = v9 + v14; v4 = rotr<u64>(v4 ^ v9, 24);
    v3 = v3 + v4 + word(s, 15); v14 = rotr<u64>(v14 ^ v3, 16); v9 = v9 + v14; v4 = rotr<u64>(v4 ^ v9, 63);
    s += 16;
    if (s == end) s = first;
  }
  store<u64>(V, v0, 0); store<u64>(V, v1, 8); store<u64>(V, v2, 16); store<u64>(V, v3, 24);
  store<u64>(V, v4, 32); store<u64>(V, v5, 40); store<u64>(V, v6, 48); store<u64>(V, v7, 56);
  store<u64>(V, v8, 64); store<u64>(V, v9, 72); store<u64>(V, v10, 80); store<u64>(V, v11, 88);
  store<u64>(V, v12, 96); store<u64>(V, v13, 104); store<u64>(V, v14, 112); store<u64>(V, v15, 120);
}

export function finish(): void {
  for (let at: usize = 0; at < 64; at += 8)
    store<u64>(BLOCK + at, load<u64>(BLOCK + at) ^ load<u64>(V + at) ^ load<u64>(V + at, 64));
}
