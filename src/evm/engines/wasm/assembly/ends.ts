/* Ends of frames: output, undo, storing created code, and the result on the caller's stack. */
import { clear, copy, set64 } from "./word";
import { dropLogs } from "./logs";
import { exhaust, returned, returnedEnd } from "./memory";
import { copyApart } from "./ranges";
import { setRefund } from "./refund";
import { rollBack, save, setFrameMark } from "./undo";
import { setCodeOf } from "./codes";
import { moveClock } from "./clock";
import { endSpare } from "./spare";
import { fork } from "./prices";
import { frame, push, setFrame } from "./frames";
import { failFor } from "./status";
import { exitedStep } from "./steps";
import { ADDRESS, CODE_INVALID, CODE_NOT_PAID, CODE_TOO_LARGE, DONE, FAILED, GAS, GOES_ON, IS_CREATION, LOGS_MARK, MEMORY, OUTPUT, OUTPUT_SIZE, PARENT, REFUND_MARK, RETURNED, RETURN_SIZE, SELF, UNDO_MARK } from "./layout";
import { HOMESTEAD, LONDON, SPURIOUS_DRAGON } from "./forks";

/** Outcome of the message. */
export let outcome: i32 = 0;
export let gasLeft: i64 = 0;
export let outputSize: u32 = 0;

const DEPOSIT_PRICE: i64 = 200;
/** Largest code (EIP-170). */
let codeLimit: usize = 0;
export function setCodeLimit(bytes: u32): void { codeLimit = bytes; }
const WORD: usize = memory.data(32, 16);

/** Most bytes of return data so far. */
export let returnedMost: usize = 0;

let creationGas: i64 = 0;
let isStored = false;
/** Converts the output of init code to code. Sets the gas in `creationGas`, and `isStored` when there is code to store. */
function settleCreation(result: i32, gas: i64, data: usize, size: usize): i32 {
  creationGas = gas;
  isStored = false;
  if (result != RETURNED) return result;
  const price = <i64>size * DEPOSIT_PRICE;
  const fits = fork < SPURIOUS_DRAGON || size <= codeLimit;
  if (price > gas || !fits) {
    // Frontier leaves an account without code.
    return fork < HOMESTEAD ? RETURNED : failFor(fits ? CODE_NOT_PAID : CODE_TOO_LARGE);
  }
  // EIP-3541.
  if (fork >= LONDON && size > 0 && load<u8>(data) == 0xef) return failFor(CODE_INVALID);
  creationGas = gas - price;
  isStored = true;
  const account = <usize>load<u32>(frame, SELF);
  save(account);
  if (size) setCodeOf(account, data, <u32>size);
  return result;
}

/** Copies return data to its region; sets `exhausted` when it does not fit. */
function keep(data: usize, size: usize): void {
  if (returned + size > returnedEnd) exhaust();
  else if (data != returned) copyApart(returned, data, size);
  if (size > returnedMost) returnedMost = size;
}

/** Ends the current frame with its remaining gas and with data in its memory or in the return region. */
export function endFrame(ending: i32, left: i64, data: usize, length: usize): i32 {
  let result = ending, size = length;
  const isCreation = load<u32>(frame, IS_CREATION) != 0, self = <usize>load<u32>(frame, SELF);
  let gas = left;
  if (isCreation) {
    result = settleCreation(ending, left, data, length);
    if (result == RETURNED) {
      gas = creationGas;
      // A transaction returns the code, CREATE nothing.
      if (load<u32>(frame, PARENT) || !isStored) size = 0;
    }
  }
  if (result == FAILED) {
    gas = 0;
    size = 0;
  }
  if (STEPS) exitedStep(result, gas, data, result == FAILED || (isCreation && result == RETURNED && !isStored) ? 0 : length);
  if (size) keep(data, size);
  if (result != RETURNED) {
    rollBack(load<u32>(frame, UNDO_MARK));
    dropLogs(load<u32>(frame, LOGS_MARK));
    setRefund(load<i64>(frame, REFUND_MARK));
  }
  const child = frame, parent = <usize>load<u32>(child, PARENT);
  setFrame(parent);
  endSpare(child, parent, result, gas);
  if (parent == 0) {
    outcome = result;
    gasLeft = gas;
    outputSize = <u32>size;
    return DONE;
  }
  setFrameMark(load<u32>(parent, UNDO_MARK));
  const total = load<i64>(parent, GAS) + gas;
  store<i64>(parent, total, GAS);
  moveClock(gas, total);
  answer(parent, result, size, isCreation, self, load<u32>(child, OUTPUT), load<u32>(child, OUTPUT_SIZE));
  return GOES_ON;
}

/** Updates the caller: return data, its copy in memory, and the word on the stack. */
function answer(parent: usize, result: i32, size: usize, isCreation: bool, self: usize, output: usize, outputSize: usize): void {
  store<u32>(parent, <u32>size, RETURN_SIZE);
  if (isCreation) {
    if (result == RETURNED) copy(WORD, self + ADDRESS); else clear(WORD);
    return push(parent, WORD);
  }
  const shown = min(size, outputSize);
  if (shown && returned + size <= returnedEnd) copyApart(<usize>load<u32>(parent, MEMORY) + output, returned, shown);
  set64(WORD, u64(result == RETURNED));
  push(parent, WORD);
}
