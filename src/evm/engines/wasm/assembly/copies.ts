/* Opcodes that copy bytes into the memory of a frame, and LOG. */
import { toSize } from "./word";
import { accountAt, isLoaded } from "./accounts";
import { accessPrice, canReach } from "./calls";
import { lacksCode } from "./codes";
import { addLog, logsAt } from "./logs";
import { endOf, growthPrice, perWord } from "./prices";
import { frame, growMemory } from "./frames";
import { returned } from "./memory";
import { copyApart } from "./ranges";
import { failFor, needs } from "./status";
import * as OP from "./opcodes";
import { loggedStep, noGas, setStepGas } from "./steps";
import { CODE, CODE_SIZE, EXHAUSTED, FRAME_CODE, FRAME_CODE_SIZE, GAS, GOES_ON, INPUT, INPUT_SIZE, IS_STATIC, MEMORY, MEMORY_SIZE, NEEDS_ACCOUNT, NEEDS_CODE, OUT_OF_GAS, RETURN_DATA_OUT_OF_BOUNDS, RETURN_SIZE, SELF, SP, STATIC_STATE_CHANGE } from "./layout";

const COPY_PRICE: i64 = 3;
const LOG_BYTE_PRICE: i64 = 8;

/** Charges the price of the memory and of the words, and grows the memory. */
function pay(end: u64, words: i64): i32 {
  let gas = load<i64>(frame, GAS) - growthPrice(load<u32>(frame, MEMORY_SIZE), end);
  if (STEPS || gas >= 0) gas -= words;
  if (gas < 0) return noGas(gas);
  if (STEPS) setStepGas(gas);
  store<i64>(frame, gas, GAS);
  return growMemory(frame, end) ? GOES_ON : EXHAUSTED;
}

/** Copies the available bytes of the source from `at` on, padded with zeros. */
function fill(to: usize, size: usize, source: usize, sourceSize: usize, at: u64): void {
  let given: usize = 0;
  if (at < <u64>sourceSize) {
    given = <usize>min<u64>(size, <u64>sourceSize - at);
    copyApart(to, source + <usize>at, given);
  }
  if (given < size) memory.fill(to + given, 0, size - given);
}

/** CALLDATACOPY whose memory and price are paid. */
export function copyInput(to: usize, size: usize, from: u64): void {
  fill(to, size, load<u32>(frame, INPUT), load<u32>(frame, INPUT_SIZE), from);
}

/** CALLDATACOPY, CODECOPY, RETURNDATACOPY. */
export function copyBytes(op: u32): i32 {
  const sp = <usize>load<u32>(frame, SP), to = toSize(sp - 32), from = toSize(sp - 64), size = toSize(sp - 96);
  const there = <u64>load<u32>(frame, RETURN_SIZE), isBeyond = op == OP.RETURNDATACOPY && (from > there || size > there - from);
  if (!STEPS && isBeyond) return failFor(RETURN_DATA_OUT_OF_BOUNDS);
  const paid = pay(endOf(to, size), perWord(size, COPY_PRICE));
  if (paid != GOES_ON) return paid;
  if (STEPS && isBeyond) return failFor(RETURN_DATA_OUT_OF_BOUNDS);
  store<u32>(frame, <u32>(sp - 96), SP);
  if (size == 0) return GOES_ON;
  const target = <usize>load<u32>(frame, MEMORY) + <usize>to;
  if (op == OP.CALLDATACOPY) fill(target, <usize>size, load<u32>(frame, INPUT), load<u32>(frame, INPUT_SIZE), from);
  else if (op == OP.CODECOPY) fill(target, <usize>size, load<u32>(frame, FRAME_CODE), load<u32>(frame, FRAME_CODE_SIZE), from);
  else copyApart(target, returned + <usize>from, <usize>size);
  return GOES_ON;
}

export function copyForeignCode(): i32 {
  const sp = <usize>load<u32>(frame, SP);
  if (!STEPS && !canReach(sp - 32, load<i64>(frame, GAS))) return failFor(OUT_OF_GAS);
  const account = accountAt(sp - 32);
  if (!isLoaded(account)) return needs(NEEDS_ACCOUNT, account);
  if (lacksCode(account)) return needs(NEEDS_CODE, account);
  const to = toSize(sp - 64), from = toSize(sp - 96), size = toSize(sp - 128);
  const paid = pay(endOf(to, size), perWord(size, COPY_PRICE) + accessPrice(account));
  if (paid != GOES_ON) return paid;
  store<u32>(frame, <u32>(sp - 128), SP);
  if (size == 0) return GOES_ON;
  fill(<usize>load<u32>(frame, MEMORY) + <usize>to, <usize>size, load<u32>(account, CODE), load<u32>(account, CODE_SIZE), from);
  return GOES_ON;
}

export function copyMemory(): i32 {
  const sp = <usize>load<u32>(frame, SP), to = toSize(sp - 32), from = toSize(sp - 64), size = toSize(sp - 96);
  const paid = pay(max(endOf(to, size), endOf(from, size)), perWord(size, COPY_PRICE));
  if (paid != GOES_ON) return paid;
  const memoryAt = <usize>load<u32>(frame, MEMORY);
  if (size) memory.copy(memoryAt + <usize>to, memoryAt + <usize>from, <usize>size);
  store<u32>(frame, <u32>(sp - 96), SP);
  return GOES_ON;
}

export function log(op: u32): i32 {
  if (!STEPS && load<u32>(frame, IS_STATIC)) return failFor(STATIC_STATE_CHANGE);
  const sp = <usize>load<u32>(frame, SP), offset = toSize(sp - 32), size = toSize(sp - 64), topics = op - OP.LOG0;
  const paid = pay(endOf(offset, size), size < 1 << 40 ? <i64>size * LOG_BYTE_PRICE : <i64>1 << 62);
  if (paid != GOES_ON) return paid;
  if (STEPS && load<u32>(frame, IS_STATIC)) return failFor(STATIC_STATE_CHANGE);
  const at = logsAt;
  addLog(load<u32>(frame, SELF), topics, sp - 96, <usize>load<u32>(frame, MEMORY) + <usize>(size ? offset : 0), <usize>size);
  if (STEPS) loggedStep(at);
  store<u32>(frame, <u32>(sp - 64 - (<usize>topics << 5)), SP);
  return GOES_ON;
}
