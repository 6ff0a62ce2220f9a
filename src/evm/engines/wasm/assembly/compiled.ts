/*
 * Compiled codes (engines/wasm/compiler): entry from the loop over frames, gas counters of codes, and the operations that compiled
 * code calls. Before each code in its region stands a header: index of its compiled function, and the gas its interpretation has used.
 */
import { byteLength, copy, set64, swapBytes, toSize } from "./word";
import { power } from "./arithmetic";
import { keccak256 } from "../../../../crypto/assembly/keccak";
import { accountAt, BALANCE, CODE, CODE_SIZE, isLoaded } from "./accounts";
import { accessPrice, canReach } from "./calls";
import { isObjectFormat, lacksCode } from "./codes";
import { copyBytes, copyMemory, log } from "./copies";
import { pauseAt } from "./clock";
import { endFrame } from "./ends";
import { CODE_HEADER, frame, GAS, growMemory, IS_STATIC, MEMORY, MEMORY_SIZE, SELF, SP } from "./frames";
import { endOf, fork, growthPrice, ISTANBUL, perWord, SPURIOUS_DRAGON } from "./prices";
import { loadTransient, setValue, SLOT_LOADED, slotOf, transientOf, VALUE } from "./slots";
import { limitSpare } from "./spare";
import { canRead, readPrice, SENTRY, writePrice } from "./storage";
import { failFor, FAILED, GOES_ON, reason } from "./status";

const HEAT: usize = 8;
/** Compiled code returns GOES_ON for the interpreter to run the opcode at the frame's PC, PAUSED, or this plus the reason of a failure. */
const FAILURE: i32 = 32;
/** Results of operations below zero: the negated answer of compiled code. */
const BY_INTERPRETER: i64 = -16;
const NO_GAS: i64 = -33;

/** Operands and result of operations on words. */
export const SCRATCH: usize = memory.data(128, 16);

let hotFrom: i64 = i64.MAX_VALUE;
const HOT: usize = memory.data(64, 16);
const HOT_LIMIT: u32 = 16;
let hotCount: u32 = 0;
/** Sets the interpreted gas from which a code is hot. */
export function setHotFrom(gas: i64): void { hotFrom = gas; }

/** Counts interpreted gas of the code with this header. */
export function countGas(header: usize, gas: i64): void {
  const before = load<i64>(header, HEAT), after = before + gas;
  store<i64>(header, after, HEAT);
  if (before >= hotFrom || after < hotFrom) return;
  if (hotCount == HOT_LIMIT) return store<i64>(header, 0, HEAT);
  store<u32>(HOT + (<usize>hotCount << 2), <u32>(header + CODE_HEADER));
  hotCount++;
}
/** Returns the address of a code that has become hot, each once; 0: none. */
export function nextHotCode(): usize { return hotCount ? <usize>load<u32>(HOT + (<usize>--hotCount << 2)) : 0; }
/** Sets the function of the code at this address; 0: it is interpreted. */
export function setCompiled(code: usize, entry: u32): void {
  store<u32>(code - CODE_HEADER, entry);
  store<i64>(code - CODE_HEADER, 0, HEAT);
}

/** Number of times that a frame has entered compiled code. */
export let entries: u32 = 0;
/** Runs the frame's compiled code. GOES_ON: interpret from the frame's PC; FAILED: `failFor` has the reason; else an answer for the host. */
export function runCompiled(header: usize): i32 {
  const entry = load<u32>(header);
  if (entry == 0) return GOES_ON;
  entries++;
  const answer = call_indirect<i32>(entry, <u32>frame, pauseAt);
  return answer > FAILURE ? failFor(answer - FAILURE) : answer;
}

/** Grows the frame's memory for a word or byte whose range ends here; returns the remaining gas. */
export function growTo(end: u64, gas: i64): i64 {
  const left = gas - growthPrice(load<u32>(frame, MEMORY_SIZE), end);
  return left < 0 || !growMemory(frame, end) ? NO_GAS : left;
}

// Operations of blocks of their own. `top`: the uppermost word; `gas`: after the fixed price. They return the remaining gas.

export function hashAt(top: usize, gas: i64): i64 {
  const offset = toSize(top), bytes = toSize(top - 32), end = endOf(offset, bytes);
  let left = gas - growthPrice(load<u32>(frame, MEMORY_SIZE), end);
  if (left >= 0) left -= perWord(bytes, 6);
  if (left < 0 || !growMemory(frame, end)) return NO_GAS;
  keccak256(<usize>load<u32>(frame, MEMORY) + <usize>(bytes ? offset : 0), <usize>bytes, top - 32);
  swapBytes(top - 32, top - 32);
  return left;
}
export function powerAt(top: usize, gas: i64): i64 {
  const left = gas - (fork >= SPURIOUS_DRAGON ? 50 : 10) * <i64>byteLength(top - 32);
  if (left < 0) return NO_GAS;
  power(top - 32, top, top - 32);
  return left;
}
export function loadSlotAt(top: usize, gas: i64): i64 {
  const self = <usize>load<u32>(frame, SELF);
  if (!canRead(self, top, gas)) return NO_GAS;
  const slot = slotOf(self, top);
  if (!load<u32>(slot, SLOT_LOADED)) return BY_INTERPRETER;
  const left = gas - readPrice(slot);
  if (left < 0) return NO_GAS;
  copy(top, slot + VALUE);
  return left;
}
export function storeSlotAt(top: usize, gas: i64): i64 {
  if (load<u32>(frame, IS_STATIC) || (fork >= ISTANBUL && gas <= SENTRY)) return BY_INTERPRETER;
  const slot = slotOf(load<u32>(frame, SELF), top);
  if (!load<u32>(slot, SLOT_LOADED)) return BY_INTERPRETER;
  if (fork >= ISTANBUL) limitSpare(gas - SENTRY - 1);
  const left = gas - writePrice(slot, top - 32);
  if (left < 0) return NO_GAS;
  setValue(slot, top - 32);
  return left;
}
export function loadTransientAt(top: usize, gas: i64): i64 {
  loadTransient(top, load<u32>(frame, SELF), top);
  return gas;
}
export function storeTransientAt(top: usize, gas: i64): i64 {
  if (load<u32>(frame, IS_STATIC)) return BY_INTERPRETER;
  setValue(transientOf(load<u32>(frame, SELF), top), top - 32);
  return gas;
}
export function balanceAt(top: usize, gas: i64): i64 {
  if (!canReach(top, gas)) return NO_GAS;
  const account = accountAt(top);
  if (!isLoaded(account)) return BY_INTERPRETER;
  const left = gas - accessPrice(account);
  if (left < 0) return NO_GAS;
  copy(top, account + BALANCE);
  return left;
}
export function codeSizeAt(top: usize, gas: i64): i64 {
  if (!canReach(top, gas)) return NO_GAS;
  const account = accountAt(top);
  if (!isLoaded(account) || lacksCode(account)) return BY_INTERPRETER;
  const left = gas - accessPrice(account);
  if (left < 0) return NO_GAS;
  const bytes = <u64>load<u32>(account, CODE_SIZE);
  set64(top, bytes && isObjectFormat(load<u32>(account, CODE), bytes) ? 2 : bytes);
  return left;
}

/** Runs an opcode that works on the frame's record. */
function onRecord(op: u32, top: usize, gas: i64): i64 {
  store<u32>(frame, <u32>(top + 32), SP);
  store<i64>(frame, gas, GAS);
  const status = op == 0x5e ? copyMemory() : op >= 0xa0 ? log(op) : copyBytes(op);
  if (status == GOES_ON) return load<i64>(frame, GAS);
  return -<i64>(status == FAILED ? FAILURE + reason : status);
}
export function copyInputAt(top: usize, gas: i64): i64 { return onRecord(0x37, top, gas); }
export function copyCodeAt(top: usize, gas: i64): i64 { return onRecord(0x39, top, gas); }
export function copyReturnAt(top: usize, gas: i64): i64 { return onRecord(0x3e, top, gas); }
export function copyMemoryAt(top: usize, gas: i64): i64 { return onRecord(0x5e, top, gas); }
export function log0At(top: usize, gas: i64): i64 { return onRecord(0xa0, top, gas); }
export function log1At(top: usize, gas: i64): i64 { return onRecord(0xa1, top, gas); }
export function log2At(top: usize, gas: i64): i64 { return onRecord(0xa2, top, gas); }
export function log3At(top: usize, gas: i64): i64 { return onRecord(0xa3, top, gas); }
export function log4At(top: usize, gas: i64): i64 { return onRecord(0xa4, top, gas); }
