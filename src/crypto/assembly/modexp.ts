/* Powers modulo an odd number of up to 32 limbs, least significant first (Montgomery), by pieces of the exponent, to stop between. */
import { BLOCK, BLOCK_SIZE, EXPONENT, MODULUS, multiply, raise64, RESULT, setModulus, SIZE, STATE, TABLE } from "./modexp/multiply";
import { OPERANDS, setOperands, writeResult } from "./modexp/short";

export { BLOCK, BLOCK_SIZE, EXPONENT, MODULUS, OPERANDS, RESULT, TABLE };

/** Starts with a modulus of `limbs` limbs, and the table's first two entries; the rest of the table is filled only when needed. */
export function begin(limbs: u32, windows: bool): void {
  setModulus(limbs);
  memory.copy(RESULT, TABLE, SIZE);
  if (!windows) return;
  const end = TABLE + 15 * SIZE;
  for (let at = TABLE + SIZE; at < end; at += SIZE) multiply(at + SIZE, at, TABLE + SIZE);
}

@inline
function window(digit: usize): void {
  for (let i = 0; i < 4; i++) multiply(RESULT, RESULT, RESULT);
  if (digit != 0) multiply(RESULT, RESULT, TABLE + digit * SIZE);
}

/** Processes the next bytes of the exponent, four bits at a time. */
export function raise(bytes: u32): void {
  if (load<u32>(STATE) == 2) return raise64(bytes);
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

/** Exponents up to this length are read bit by bit: a table of powers would cost more than it saves. */
const SHORT: u32 = 8;

/** Power of operands of up to 32 bytes, as short.ts has them; false: the modulus is even. */
export function powerShort(exponentBytes: u32): bool {
  const limbs = setOperands();
  if (limbs == 0) return false;
  begin(limbs, exponentBytes > SHORT);
  if (exponentBytes > SHORT) raise(exponentBytes);
  else raiseByBits(exponentBytes);
  finish();
  writeResult();
  return true;
}
