/* Reasons why an opcode does not run, in the order of EthereumJS' checks: opcodes of variable price read their operands first. */
import { isZero, toSize } from "./word";
import { endOf, growthPrice, KNOWN, PRICED_SHIFT, TABLE, WRITES } from "./prices";
import { frame } from "./frames";
import { failFor } from "./status";
import * as OP from "./opcodes";
import { INVALID_OPCODE, IS_STATIC, MEMORY_SIZE, OUT_OF_GAS, STACK_OVERFLOW, STACK_UNDERFLOW, STATIC_STATE_CHANGE } from "./layout";

/** Gas that the memory of MSTORE, MSTORE8 and LOG adds where other operands are missing. */
function memoryPrice(op: u32, top: usize): i64 {
  const have = <u64>load<u32>(frame, MEMORY_SIZE), offset = toSize(top);
  if (op == OP.MSTORE) return growthPrice(have, endOf(offset, 32));
  if (op == OP.MSTORE8) return growthPrice(have, endOf(offset, 1));
  if (op < 0xa0 || op > 0xa4) return 0;
  const size = toSize(top - 32);
  return size > <u64>1 << 32 ? <i64>1 << 62 : growthPrice(have, endOf(offset, size)) + (<i64>size << 3);
}

/** Returns the fault where gas is short or the stack does not fit. `gas` is the remainder after the opcode's fixed price. */
export function fault(op: u32, height: u32, sp: usize, gas: i64): i32 {
  const row = TABLE + (<usize>op << 3);
  const flags = <u32>load<u16>(row, 6);
  if (!(flags & KNOWN)) return failFor(INVALID_OPCODE);
  const least = <u32>load<u16>(row, 2) >> 5, items = height >> 5, priced = flags >> PRICED_SHIFT;
  if (load<u32>(frame, IS_STATIC)) {
    if (flags & WRITES) return failFor(STATIC_STATE_CHANGE);
    if (op == OP.CALL && items >= least && !isZero(sp - 96)) return failFor(STATIC_STATE_CHANGE);
  }
  if (items < priced) return failFor(STACK_UNDERFLOW);
  if (gas < 0 || (items < least && priced && gas < memoryPrice(op, sp - 32))) return failFor(OUT_OF_GAS);
  return failFor(items < least ? STACK_UNDERFLOW : STACK_OVERFLOW);
}
