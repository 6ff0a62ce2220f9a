import { MODULUS, multiply, RESULT, setModulus, SIZE, TABLE } from "./multiply";

/* Operands of up to 32 bytes, big-endian in 32 bytes each: the base, then the modulus. The result takes the place of the base. */
export const OPERANDS: usize = memory.data(64, 16);
const SQUARE: usize = memory.data(32, 16);
const WORDS: usize = 32;

function reverse(out: usize, words: usize): void {
  for (let i: usize = 0; i < WORDS; i += 8) store<u64>(out + i, bswap<u64>(load<u64>(words + WORDS - 8 - i)));
}

/** Limbs of a number, of which there is code for two, four and eight. */
function limbsOf(number: usize): u32 {
  if ((load<u64>(number, 16) | load<u64>(number, 24)) != 0) return 8;
  return load<u64>(number, 8) == 0 ? 2 : 4;
}

function isBelowModulus(a: usize, size: usize): bool {
  for (let end = size; end > 0; end -= 8) {
    const x = load<u64>(a + end - 8), m = load<u64>(MODULUS + end - 8);
    if (x != m) return x < m;
  }
  return false;
}

/** a = 2 a mod m, of a number below m. */
function double(a: usize, size: usize): void {
  let carry: u64 = 0;
  for (let at: usize = 0; at < size; at += 8) {
    const word = load<u64>(a + at);
    store<u64>(a + at, (word << 1) | carry);
    carry = word >> 63;
  }
  if (carry == 0 && isBelowModulus(a, size)) return;
  let borrow: u64 = 0;
  for (let at: usize = 0; at < size; at += 8) {
    const word = load<u64>(a + at), less = load<u64>(MODULUS + at);
    store<u64>(a + at, word - less - borrow);
    borrow = u64(word < less || (word == less && borrow != 0));
  }
}

/** Writes R mod m: from the highest power of two that is not above m. */
function setOne(out: usize, size: usize): void {
  memory.fill(out, 0, SIZE);
  let top = size - 8;
  while (top > 0 && load<u64>(MODULUS + top) == 0) top -= 8;
  const bits = <usize>(63 - clz<u64>(load<u64>(MODULUS + top)));
  // The power is m itself only if m is 1, and R mod 1 is 0.
  if (top == 0 && load<u64>(MODULUS) == 1) return;
  store<u64>(out + top, <u64>1 << bits);
  for (let bit: usize = 8 * top + bits; bit < 8 * size; bit++) double(out, size);
}

/** Reads modulus and base, and fills the first two powers of the table; returns the number of limbs, 0 for an even modulus. */
export function setOperands(): u32 {
  reverse(MODULUS, OPERANDS + WORDS);
  if ((load<u8>(MODULUS) & 1) == 0) return 0;
  const base = TABLE + SIZE;
  memory.fill(MODULUS + WORDS, 0, SIZE - WORDS);
  memory.fill(base, 0, SIZE);
  reverse(base, OPERANDS);
  const limbs = max<u32>(limbsOf(MODULUS), limbsOf(base));
  const size = <usize>limbs << 2;
  setModulus(limbs);
  setOne(TABLE, size);
  // 2 R, squared until it is R R: each square in Montgomery form doubles the power of two besides R.
  memory.copy(SQUARE, TABLE, size);
  double(SQUARE, size);
  for (let power: usize = 1; power < 8 * size; power <<= 1) multiply(SQUARE, SQUARE, SQUARE);
  // The base may exceed the modulus, and is below R: their product over R is below 2 m all the same, and comes out below m.
  multiply(base, base, SQUARE);
  return limbs;
}

/** Writes the result, big-endian, in the place of the base. */
export function writeResult(): void {
  reverse(OPERANDS, RESULT);
}
