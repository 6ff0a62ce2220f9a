/*
 * Powers modulo an odd number of up to 32 limbs of 32 bits, least significant first, in Montgomery form (P. Montgomery 1985; the
 * merged loop is Koc, Acar, Kaliski 1996, FIOS). The exponent is passed in pieces, so that the caller can stop between them.
 */
const SIZE: usize = 128;
const CHUNK: usize = 1024;

/** State of one computation, contiguous so that it can be saved and restored as a whole. */
const BLOCK: usize = memory.data(3488, 16);
const BLOCK_SIZE: usize = 3488;
const MODULUS: usize = BLOCK;
const RESULT: usize = BLOCK + SIZE;
/** Powers 0 to 15 of the base. */
const TABLE: usize = BLOCK + 2 * SIZE;
const EXPONENT: usize = TABLE + 16 * SIZE;
const PRODUCT: usize = EXPONENT + CHUNK;
/** Limb count, -1 / modulus mod 2^32. */
const STATE: usize = PRODUCT + SIZE + 16;

const LOW: u64 = 0xffffffff;

export function modulusAt(): usize {
  return MODULUS;
}
/**
 * Address where the caller writes R mod m, which is the power 0, and R * base mod m, the power 1, 128 bytes apart; R = 2^(32 *
 * limbs).
 */
export function tableAt(): usize {
  return TABLE;
}
export function resultAt(): usize {
  return RESULT;
}
export function exponentAt(): usize {
  return EXPONENT;
}
/** Address of the state between two pieces. */
export function blockAt(): usize {
  return BLOCK;
}
export function blockSize(): usize {
  return BLOCK_SIZE;
}

/** out = a * b / R mod m; all below m, out may be a or b. */
function multiply(out: usize, a: usize, b: usize): void {
  const size = <usize>load<u32>(STATE) << 2;
  const inverse = load<u32>(STATE, 4);
  memory.fill(PRODUCT, 0, size + 4);
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
  if (<i64>load<u32>(PRODUCT + size) + borrow < 0) memory.copy(out, PRODUCT, size);
}

/** Starts with a modulus of `limbs` limbs, and the table's first two entries; the rest of the table is filled only when needed. */
export function begin(limbs: u32, windows: bool): void {
  const low = load<u32>(MODULUS);
  // Newton: each step doubles the correct bits; an odd number is its own inverse modulo 8.
  let inverse = low;
  for (let i = 0; i < 4; i++) inverse *= 2 - low * inverse;
  store<u32>(STATE, limbs);
  store<u32>(STATE, 0 - inverse, 4);
  memory.copy(RESULT, TABLE, SIZE);
  if (!windows) return;
  const end = TABLE + 15 * SIZE;
  for (let at = TABLE + SIZE; at < end; at += SIZE) multiply(at + SIZE, at, TABLE + SIZE);
}

// @ts-ignore: decorator
@inline
function window(digit: usize): void {
  for (let i = 0; i < 4; i++) multiply(RESULT, RESULT, RESULT);
  if (digit != 0) multiply(RESULT, RESULT, TABLE + digit * SIZE);
}

/** Processes the next bytes of the exponent, four bits at a time. */
export function raise(bytes: u32): void {
  for (let at = EXPONENT; at < EXPONENT + bytes; at++) {
    const byte = <usize>load<u8>(at);
    window(byte >> 4);
    window(byte & 15);
  }
}

/** Processes them bit by bit, which needs no table. */
export function raiseByBits(bytes: u32): void {
  for (let at = EXPONENT; at < EXPONENT + bytes; at++) {
    const byte = <u32>load<u8>(at);
    for (let bit = 7; bit >= 0; bit--) {
      multiply(RESULT, RESULT, RESULT);
      if ((byte >> bit) & 1) multiply(RESULT, RESULT, TABLE + SIZE);
    }
  }
}

/** Converts the result out of Montgomery form. */
export function finish(): void {
  memory.fill(TABLE, 0, SIZE);
  store<u32>(TABLE, 1);
  multiply(RESULT, RESULT, TABLE);
}
