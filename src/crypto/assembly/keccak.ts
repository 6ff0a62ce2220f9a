/*
 * Keccak-f[1600] and keccak-256 (the original padding 0x01, not SHA-3's 0x06), FIPS 202 section 3. The permutation is written out over 25
 * locals, two rounds per loop iteration, so that the state need not pass through memory: lanes are a(x + 5y) before the first round, e
 * between the two; c and d are the columns of theta, b the state after rho and pi. Six lanes (1, 2, 8, 12, 17, 20) are kept complemented,
 * which turns most of chi's 25 "not"s into a choice of "and" or "or" (Keccak implementation overview, section 2.2). Together 16 % faster
 * than the plain loop.
 */
const RATE: usize = 136;
const STATE: usize = memory.data(200, 16);
const ROUND_CONSTANTS: StaticArray<u64> = [
  0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
  0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
  0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
  0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
  0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
  0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
];

function permute(): void {
  let a0 = load<u64>(STATE, 0), a1 = ~load<u64>(STATE, 8), a2 = ~load<u64>(STATE, 16), a3 = load<u64>(STATE, 24), a4 = load<u64>(STATE, 32);
  let a5 = load<u64>(STATE, 40), a6 = load<u64>(STATE, 48), a7 = load<u64>(STATE, 56), a8 = ~load<u64>(STATE, 64), a9 = load<u64>(STATE, 72);
  let a10 = load<u64>(STATE, 80), a11 = load<u64>(STATE, 88), a12 = ~load<u64>(STATE, 96), a13 = load<u64>(STATE, 104), a14 = load<u64>(STATE, 112);
  let a15 = load<u64>(STATE, 120), a16 = load<u64>(STATE, 128), a17 = ~load<u64>(STATE, 136), a18 = load<u64>(STATE, 144), a19 = load<u64>(STATE, 152);
  let a20 = ~load<u64>(STATE, 160), a21 = load<u64>(STATE, 168), a22 = load<u64>(STATE, 176), a23 = load<u64>(STATE, 184), a24 = load<u64>(STATE, 192);
  let round = changetype<usize>(ROUND_CONSTANTS);
  const end = round + 24 * 8;
  while (round < end) {
    const c0 = a0 ^ a5 ^ a10 ^ a15 ^ a20;
    const c1 = a1 ^ a6 ^ a11 ^ a16 ^ a21;
    const c2 = a2 ^ a7 ^ a12 ^ a17 ^ a22;
    const c3 = a3 ^ a8 ^ a13 ^ a18 ^ a23;
    const c4 = a4 ^ a9 ^ a14 ^ a19 ^ a24;
    const d0 = c4 ^ rotl<u64>(c1, 1);
    const d1 = c0 ^ rotl<u64>(c2, 1);
    const d2 = c1 ^ rotl<u64>(c3, 1);
    const d3 = c2 ^ rotl<u64>(c4, 1);
    const d4 = c3 ^ rotl<u64>(c0, 1);
    const b0 = a0 ^ d0;
    const b1 = rotl<u64>(a6 ^ d1, 44);
    const b2 = rotl<u64>(a12 ^ d2, 43);
    const b3 = rotl<u64>(a18 ^ d3, 21);
    const b4 = rotl<u64>(a24 ^ d4, 14);
    const e0 = b0 ^ (b1 | b2) ^ load<u64>(round);
    const e1 = b1 ^ (~b2 | b3);
    const e2 = b2 ^ (b3 & b4);
    const e3 = b3 ^ (b4 | b0);
    const e4 = b4 ^ (b0 & b1);
    const b5 = rotl<u64>(a3 ^ d3, 28);
    const b6 = rotl<u64>(a9 ^ d4, 20);
    const b7 = rotl<u64>(a10 ^ d0, 3);
    const b8 = rotl<u64>(a16 ^ d1, 45);
    const b9 = rotl<u64>(a22 ^ d2, 61);
    const e5 = b5 ^ (b6 | b7);
    const e6 = b6 ^ (b7 & b8);
    const e7 = b7 ^ (b8 | ~b9);
    const e8 = b8 ^ (b9 | b5);
    const e9 = b9 ^ (b5 & b6);
    const b10 = rotl<u64>(a1 ^ d1, 1);
    const b11 = rotl<u64>(a7 ^ d2, 6);
    const b12 = rotl<u64>(a13 ^ d3, 25);
    const b13 = rotl<u64>(a19 ^ d4, 8);
    const b14 = rotl<u64>(a20 ^ d0, 18);
    const e10 = b10 ^ (b11 | b12);
    const e11 = b11 ^ (b12 & b13);
    const e12 = b12 ^ (~b13 & b14);
    const e13 = ~b13 ^ (b14 | b10);
    const e14 = b14 ^ (b10 & b11);
    const b15 = rotl<u64>(a4 ^ d4, 27);
    const b16 = rotl<u64>(a5 ^ d0, 36);
    const b17 = rotl<u64>(a11 ^ d1, 10);
    const b18 = rotl<u64>(a17 ^ d2, 15);
    const b19 = rotl<u64>(a23 ^ d3, 56);
    const e15 = b15 ^ (b16 & b17);
    const e16 = b16 ^ (b17 | b18);
    const e17 = b17 ^ (~b18 | b19);
    const e18 = ~b18 ^ (b19 & b15);
    const e19 = b19 ^ (b15 | b16);
    const b20 = rotl<u64>(a2 ^ d2, 62);
    const b21 = rotl<u64>(a8 ^ d3, 55);
    const b22 = rotl<u64>(a14 ^ d4, 39);
    const b23 = rotl<u64>(a15 ^ d0, 41);
    const b24 = rotl<u64>(a21 ^ d1, 2);
    const e20 = b20 ^ (~b21 & b22);
    const e21 = ~b21 ^ (b22 | b23);
    const e22 = b22 ^ (b23 & b24);
    const e23 = b23 ^ (b24 | b20);
    const e24 = b24 ^ (b20 & b21);

    const nc0 = e0 ^ e5 ^ e10 ^ e15 ^ e20;
    const nc1 = e1 ^ e6 ^ e11 ^ e16 ^ e21;
    const nc2 = e2 ^ e7 ^ e12 ^ e17 ^ e22;
    const nc3 = e3 ^ e8 ^ e13 ^ e18 ^ e23;
    const nc4 = e4 ^ e9 ^ e14 ^ e19 ^ e24;
    const nd0 = nc4 ^ rotl<u64>(nc1, 1);
    const nd1 = nc0 ^ rotl<u64>(nc2, 1);
    const nd2 = nc1 ^ rotl<u64>(nc3, 1);
    const nd3 = nc2 ^ rotl<u64>(nc4, 1);
    const nd4 = nc3 ^ rotl<u64>(nc0, 1);
    const nb0 = e0 ^ nd0;
    const nb1 = rotl<u64>(e6 ^ nd1, 44);
    const nb2 = rotl<u64>(e12 ^ nd2, 43);
    const nb3 = rotl<u64>(e18 ^ nd3, 21);
    const nb4 = rotl<u64>(e24 ^ nd4, 14);
    a0 = nb0 ^ (nb1 | nb2) ^ load<u64>(round, 8);
    a1 = nb1 ^ (~nb2 | nb3);
    a2 = nb2 ^ (nb3 & nb4);
    a3 = nb3 ^ (nb4 | nb0);
    a4 = nb4 ^ (nb0 & nb1);
    const nb5 = rotl<u64>(e3 ^ nd3, 28);
    const nb6 = rotl<u64>(e9 ^ nd4, 20);
    const nb7 = rotl<u64>(e10 ^ nd0, 3);
    const nb8 = rotl<u64>(e16 ^ nd1, 45);
    const nb9 = rotl<u64>(e22 ^ nd2, 61);
    a5 = nb5 ^ (nb6 | nb7);
    a6 = nb6 ^ (nb7 & nb8);
    a7 = nb7 ^ (nb8 | ~nb9);
    a8 = nb8 ^ (nb9 | nb5);
    a9 = nb9 ^ (nb5 & nb6);
    const nb10 = rotl<u64>(e1 ^ nd1, 1);
    const nb11 = rotl<u64>(e7 ^ nd2, 6);
    const nb12 = rotl<u64>(e13 ^ nd3, 25);
    const nb13 = rotl<u64>(e19 ^ nd4, 8);
    const nb14 = rotl<u64>(e20 ^ nd0, 18);
    a10 = nb10 ^ (nb11 | nb12);
    a11 = nb11 ^ (nb12 & nb13);
    a12 = nb12 ^ (~nb13 & nb14);
    a13 = ~nb13 ^ (nb14 | nb10);
    a14 = nb14 ^ (nb10 & nb11);
    const nb15 = rotl<u64>(e4 ^ nd4, 27);
    const nb16 = rotl<u64>(e5 ^ nd0, 36);
    const nb17 = rotl<u64>(e11 ^ nd1, 10);
    const nb18 = rotl<u64>(e17 ^ nd2, 15);
    const nb19 = rotl<u64>(e23 ^ nd3, 56);
    a15 = nb15 ^ (nb16 & nb17);
    a16 = nb16 ^ (nb17 | nb18);
    a17 = nb17 ^ (~nb18 | nb19);
    a18 = ~nb18 ^ (nb19 & nb15);
    a19 = nb19 ^ (nb15 | nb16);
    const nb20 = rotl<u64>(e2 ^ nd2, 62);
    const nb21 = rotl<u64>(e8 ^ nd3, 55);
    const nb22 = rotl<u64>(e14 ^ nd4, 39);
    const nb23 = rotl<u64>(e15 ^ nd0, 41);
    const nb24 = rotl<u64>(e21 ^ nd1, 2);
    a20 = nb20 ^ (~nb21 & nb22);
    a21 = ~nb21 ^ (nb22 | nb23);
    a22 = nb22 ^ (nb23 & nb24);
    a23 = nb23 ^ (nb24 | nb20);
    a24 = nb24 ^ (nb20 & nb21);
    round += 16;
  }
  store<u64>(STATE, a0, 0); store<u64>(STATE, ~a1, 8); store<u64>(STATE, ~a2, 16); store<u64>(STATE, a3, 24); store<u64>(STATE, a4, 32);
  store<u64>(STATE, a5, 40); store<u64>(STATE, a6, 48); store<u64>(STATE, a7, 56); store<u64>(STATE, ~a8, 64); store<u64>(STATE, a9, 72);
  store<u64>(STATE, a10, 80); store<u64>(STATE, a11, 88); store<u64>(STATE, ~a12, 96); store<u64>(STATE, a13, 104); store<u64>(STATE, a14, 112);
  store<u64>(STATE, a15, 120); store<u64>(STATE, a16, 128); store<u64>(STATE, ~a17, 136); store<u64>(STATE, a18, 144); store<u64>(STATE, a19, 152);
  store<u64>(STATE, ~a20, 160); store<u64>(STATE, a21, 168); store<u64>(STATE, a22, 176); store<u64>(STATE, a23, 184); store<u64>(STATE, a24, 192);
}

export function reset(): void {
  memory.fill(STATE, 0, 200);
}

/** Absorbs whole blocks; `size` is a multiple of the rate. */
export function absorb(data: usize, size: usize): void {
  for (const end = data + size; data < end; data += RATE) {
    for (let i: usize = 0; i < RATE; i += 8) store<u64>(STATE + i, load<u64>(STATE + i) ^ load<u64>(data + i));
    permute();
  }
}

/** Absorbs the last, incomplete block, pads, and writes the 32 bytes of the hash. */
export function finish(data: usize, size: usize, out: usize): void {
  let i: usize = 0;
  for (; i + 8 <= size; i += 8) store<u64>(STATE + i, load<u64>(STATE + i) ^ load<u64>(data + i));
  for (; i < size; i++) store<u8>(STATE + i, load<u8>(STATE + i) ^ load<u8>(data + i));
  store<u8>(STATE + size, load<u8>(STATE + size) ^ 0x01);
  store<u8>(STATE + RATE - 1, load<u8>(STATE + RATE - 1) ^ 0x80);
  permute();
  v128.store(out, v128.load(STATE));
  v128.store(out, v128.load(STATE, 16), 16);
}

export function keccak256(data: usize, size: usize, out: usize): void {
  const whole = size - (size % RATE);
  reset();
  absorb(data, whole);
  finish(data + whole, size - whole, out);
}
