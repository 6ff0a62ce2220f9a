/*
 * Reasons why an opcode does not run, in the order of EthereumJS' checks: opcodes of variable price read their operands
 * first.
 */
import { isZero, toSize } from "./word";
import { endOf, growthPrice, TABLE } from "./prices";
import { frame, IS_STATIC, MEMORY_SIZE } from "./frames";
import { failFor, INVALID_OPCODE, OUT_OF_GAS, STACK_OVERFLOW, STACK_UNDERFLOW, STATIC_STATE_CHANGE } from "./status";

/** Number of operands on which an opcode's price depends, all of which must exist; 0: it has a fixed price. */
function pricedOperands(op: u32, least: u32): u32 {
  if (op == 0x52 || op == 0x53) return 1;
  if (op >= 0xa0 && op <= 0xa4) return 2;
  if (op == 0x0a || op == 0x20 || op == 0x31 || op == 0x37 || op == 0x39 || (op >= 0x3b && op <= 0x3c) || op == 0x3e || op == 0x3f) return least;
  if (op == 0x51 || op == 0x54 || op == 0x55 || op == 0x5e || op >= 0xf0) return least;
  return 0;
}

function writes(op: u32): bool {
  return op == 0x55 || (op >= 0xa0 && op <= 0xa4) || op == 0xf0 || op == 0xf5 || op == 0xff;
}

/** Gas that the memory of MSTORE, MSTORE8 and LOG adds where other operands are missing. */
function memoryPrice(op: u32, top: usize): i64 {
  const have = <u64>load<u32>(frame, MEMORY_SIZE), offset = toSize(top);
  if (op == 0x52) return growthPrice(have, endOf(offset, 32));
  if (op == 0x53) return growthPrice(have, endOf(offset, 1));
  if (op < 0xa0 || op > 0xa4) return 0;
  const size = toSize(top - 32);
  return size > <u64>1 << 32 ? <i64>1 << 62 : growthPrice(have, endOf(offset, size)) + (<i64>size << 3);
}

/**
 * Returns the fault where gas is short or the stack does not fit. `gas` is the remainder after the opcode's fixed
 * price.
 */
export function fault(op: u32, height: u32, sp: usize, gas: i64): i32 {
  const row = TABLE + (<usize>op << 3);
  if (load<u16>(row, 6) == 0) return failFor(INVALID_OPCODE);
  const least = <u32>load<u16>(row, 2) >> 5, items = height >> 5, priced = pricedOperands(op, least);
  if (load<u32>(frame, IS_STATIC)) {
    if (writes(op)) return failFor(STATIC_STATE_CHANGE);
    if (op == 0xf1 && items >= least && !isZero(sp - 96)) return failFor(STATIC_STATE_CHANGE);
  }
  if (items < priced) return failFor(STACK_UNDERFLOW);
  if (gas < 0 || (items < least && priced && gas < memoryPrice(op, sp - 32))) return failFor(OUT_OF_GAS);
  return failFor(items < least ? STACK_UNDERFLOW : STACK_OVERFLOW);
}
