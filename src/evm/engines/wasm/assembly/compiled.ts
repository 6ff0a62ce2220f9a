/*
 * Compiled codes (engines/wasm/compiler): entry from the loop over frames, gas counters of codes, and the operations that compiled
 * code calls. Before each code in its region stands a header: index of its compiled function, and the gas its interpretation has used.
 */
import { copyBytes, copyMemory, log } from "./copies";
import { pauseAt } from "./clock";
import { CODE_HEADER, frame, GAS, growMemory, MEMORY_SIZE, SP } from "./frames";
import { growthPrice } from "./prices";
import { FAILED, GOES_ON, reason } from "./status";
import { endOfOperation, FAILURE, NO_GAS } from "./operations";

const HEAT: usize = 8;

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
/**
 * Runs the frame's compiled code. GOES_ON: interpret from the frame's PC; FAILED: `failFor` has the reason; else an answer for the host.
 * Compiled code answers with one of these, or with FAILURE and the reason.
 */
export function runCompiled(header: usize): i32 {
  const entry = load<u32>(header);
  if (entry == 0) return GOES_ON;
  entries++;
  const answer = call_indirect<i32>(entry, <u32>frame, pauseAt);
  return endOfOperation(-<i64>answer);
}

/** Grows the frame's memory for a word or byte whose range ends here; returns the remaining gas. */
export function growTo(end: u64, gas: i64): i64 {
  const left = gas - growthPrice(load<u32>(frame, MEMORY_SIZE), end);
  return left < 0 || !growMemory(frame, end) ? NO_GAS : left;
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
