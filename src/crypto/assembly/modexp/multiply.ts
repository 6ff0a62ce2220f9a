/* Memory of a computation, and products in Montgomery form (P. Montgomery 1985; the merged loop is Koc, Acar, Kaliski 1996, FIOS). */
export const SIZE: usize = 128;
const CHUNK: usize = 1024;

/** State of one computation, contiguous so that it can be saved and restored as a whole. */
export const BLOCK: usize = memory.data(3488, 16);
export const BLOCK_SIZE: usize = 3488;
export const MODULUS: usize = BLOCK;
export const RESULT: usize = BLOCK + SIZE;
/** Powers 0 to 15 of the base; the caller writes the first two, R mod m and R * base mod m with R = 2^(32 * limbs). */
export const TABLE: usize = BLOCK + 2 * SIZE;
export const EXPONENT: usize = TABLE + 16 * SIZE;
const PRODUCT: usize = EXPONENT + CHUNK;
/** Limb count, -1 / modulus mod 2^32; 1 / the lowest 64 bits of the modulus. */
export const STATE: usize = PRODUCT + SIZE + 16;
const INVERSE_64: usize = STATE + 8;

const LOW: u64 = 0xffffffff;

/** Takes an odd modulus of this many limbs from its place. */
export function setModulus(limbs: u32): void {
  const low = load<u64>(MODULUS);
  // Newton: each step doubles the correct bits; an odd number is its own inverse modulo 8.
  let inverse = low;
  for (let i = 0; i < 5; i++) inverse *= 2 - low * inverse;
  store<u32>(STATE, limbs);
  store<u32>(STATE, 0 - <u32>inverse, 4);
  store<u64>(INVERSE_64, inverse);
}

/** out = a * b / R mod m; all below m, out may be a or b. */
export function multiply(out: usize, a: usize, b: usize): void {
  const size = <usize>load<u32>(STATE) << 2;
  if (size == 8) return store<u64>(out, multiply64(load<u64>(a), load<u64>(b), load<u64>(MODULUS), load<u64>(INVERSE_64)));
  if (size == 16) return multiply128(out, a, b);
  if (size == 32) return multiply256(out, a, b);
  multiplyLong(out, a, b, size);
}

/** The same in a loop over limbs. A call of memory.fill costs as much as several limbs. */
function multiplyLong(out: usize, a: usize, b: usize, size: usize): void {
  const inverse = load<u32>(STATE, 4);
  for (let i: usize = 0; i <= size; i += 4) store<u32>(PRODUCT + i, 0);
  for (let i: usize = 0; i < size; i += 4) {
    const digit = <u64>load<u32>(a + i);
    let sum = digit * <u64>load<u32>(b) + <u64>load<u32>(PRODUCT);
    const factor = <u64>(<u32>sum * inverse);
    let high = sum >> 32;
    let reduced = factor * <u64>load<u32>(MODULUS) + (sum & LOW);
    let carry = reduced >> 32;
    for (let j: usize = 4; j < size; j += 4) {
      sum = digit * <u64>load<u32>(b + j) + <u64>load<u32>(PRODUCT + j) + high;
      high = sum >> 32;
      reduced = factor * <u64>load<u32>(MODULUS + j) + (sum & LOW) + carry;
      carry = reduced >> 32;
      store<u32>(PRODUCT + j - 4, <u32>reduced);
    }
    sum = <u64>load<u32>(PRODUCT + size) + high + carry;
    store<u32>(PRODUCT + size - 4, <u32>sum);
    store<u32>(PRODUCT + size, <u32>(sum >> 32));
  }
  subtractModulus(out, size);
}

/** out = PRODUCT, minus the modulus unless it is below it. */
function subtractModulus(out: usize, size: usize): void {
  let borrow: i64 = 0;
  for (let j: usize = 0; j < size; j += 4) {
    const digit = <i64>load<u32>(PRODUCT + j) - <i64>load<u32>(MODULUS + j) + borrow;
    borrow = digit >> 32;
    store<u32>(out + j, <u32>digit);
  }
  if (<i64>load<u32>(PRODUCT + size) + borrow >= 0) return;
  for (let j: usize = 0; j < size; j += 4) store<u32>(out + j, load<u32>(PRODUCT + j));
}

/** The same for four limbs, which stay in variables. */
function multiply128(out: usize, a: usize, b: usize): void {
  const b0 = <u64>load<u32>(b), b1 = <u64>load<u32>(b, 4), b2 = <u64>load<u32>(b, 8), b3 = <u64>load<u32>(b, 12);
  const n = MODULUS;
  const n0 = <u64>load<u32>(n), n1 = <u64>load<u32>(n, 4), n2 = <u64>load<u32>(n, 8), n3 = <u64>load<u32>(n, 12);
  const inverse = load<u32>(STATE, 4);
  let t0: u64 = 0, t1: u64 = 0, t2: u64 = 0, t3: u64 = 0, t4: u64 = 0;
  for (let i: usize = 0; i < 16; i += 4) {
    const x = <u64>load<u32>(a + i);
    t0 += x * b0;
    const m = <u64>(<u32>t0 * inverse);
    let carry = (m * n0 + (t0 & LOW)) >> 32;
    t1 += x * b1 + (t0 >> 32);
    carry += m * n1 + (t1 & LOW);
    t0 = carry & LOW;
    t2 += x * b2 + (t1 >> 32);
    carry = (carry >> 32) + m * n2 + (t2 & LOW);
    t1 = carry & LOW;
    t3 += x * b3 + (t2 >> 32);
    carry = (carry >> 32) + m * n3 + (t3 & LOW);
    t2 = carry & LOW;
    t4 += (carry >> 32) + (t3 >> 32);
    t3 = t4 & LOW;
    t4 >>= 32;
  }
  const low = t0 | (t1 << 32), high = t2 | (t3 << 32), m0 = n0 | (n1 << 32), m1 = n2 | (n3 << 32);
  const isBelow = t4 == 0 && (high < m1 || (high == m1 && low < m0));
  store<u64>(out, isBelow ? low : low - m0);
  store<u64>(out, isBelow ? high : high - m1 - u64(low < m0), 8);
}

@inline
function limb(at: usize, index: usize): u64 { return <u64>load<u32>(at + (index << 2)); }

/** The same for eight limbs. */
function multiply256(out: usize, a: usize, b: usize): void {
  const inverse = load<u32>(STATE, 4);
  let t0: u64 = 0, t1: u64 = 0, t2: u64 = 0, t3: u64 = 0, t4: u64 = 0, t5: u64 = 0, t6: u64 = 0, t7: u64 = 0, t8: u64 = 0;
  for (let i: usize = 0; i < 32; i += 4) {
    const x = <u64>load<u32>(a + i);
    t0 += x * limb(b, 0);
    const m = <u64>(<u32>t0 * inverse);
    let carry = (m * limb(MODULUS, 0) + (t0 & LOW)) >> 32;
    t1 += x * limb(b, 1) + (t0 >> 32);
    carry += m * limb(MODULUS, 1) + (t1 & LOW);
    t0 = carry & LOW;
    t2 += x * limb(b, 2) + (t1 >> 32);
    carry = (carry >> 32) + m * limb(MODULUS, 2) + (t2 & LOW);
    t1 = carry & LOW;
    t3 += x * limb(b, 3) + (t2 >> 32);
    carry = (carry >> 32) + m * limb(MODULUS, 3) + (t3 & LOW);
    t2 = carry & LOW;
    t4 += x * limb(b, 4) + (t3 >> 32);
    carry = (carry >> 32) + m * limb(MODULUS, 4) + (t4 & LOW);
    t3 = carry & LOW;
    t5 += x * limb(b, 5) + (t4 >> 32);
    carry = (carry >> 32) + m * limb(MODULUS, 5) + (t5 & LOW);
    t4 = carry & LOW;
    t6 += x * limb(b, 6) + (t5 >> 32);
    carry = (carry >> 32) + m * limb(MODULUS, 6) + (t6 & LOW);
    t5 = carry & LOW;
    t7 += x * limb(b, 7) + (t6 >> 32);
    carry = (carry >> 32) + m * limb(MODULUS, 7) + (t7 & LOW);
    t6 = carry & LOW;
    t8 += (carry >> 32) + (t7 >> 32);
    t7 = t8 & LOW;
    t8 >>= 32;
  }
  store<u64>(PRODUCT, t0 | (t1 << 32));
  store<u64>(PRODUCT, t2 | (t3 << 32), 8);
  store<u64>(PRODUCT, t4 | (t5 << 32), 16);
  store<u64>(PRODUCT, t6 | (t7 << 32), 24);
  store<u64>(PRODUCT, t8, 32);
  subtractModulus(out, 32);
}

/** Upper half of a product. */
@inline
function upper(a: u64, b: u64): u64 {
  const a0 = a & LOW, a1 = a >> 32, b0 = b & LOW, b1 = b >> 32;
  const low = a1 * b0 + ((a0 * b0) >> 32);
  const middle = a0 * b1 + (low & LOW);
  return a1 * b1 + (low >> 32) + (middle >> 32);
}

/** `multiply` of one limb of 64 bits; `inverse` is 1 / m mod 2^64. */
@inline
function multiply64(a: u64, b: u64, modulus: u64, inverse: u64): u64 {
  const high = upper(a, b), less = upper(a * b * inverse, modulus);
  return high - less + (high < less ? modulus : 0);
}

/** Processes bytes of the exponent, four bits at a time, with one limb of 64 bits, which stays in a variable. */
export function raise64(bytes: u32): void {
  const modulus = load<u64>(MODULUS), inverse = load<u64>(INVERSE_64);
  let result = load<u64>(RESULT);
  for (let i: u32 = 0; i < 2 * bytes; i++) {
    const digit = (load<u8>(EXPONENT + (i >> 1)) >> <u8>((i & 1) ^ 1) * 4) & 15;
    for (let j = 0; j < 4; j++) result = multiply64(result, result, modulus, inverse);
    if (digit != 0) result = multiply64(result, load<u64>(TABLE + <usize>digit * SIZE), modulus, inverse);
  }
  store<u64>(RESULT, result);
}
