/* CALL, CALLCODE, DELEGATECALL, STATICCALL. */
import { add, copy, isZero, less, set64, subtract, swapBytes, toSize } from "./word";
import { accountAt, change, has, isEmpty, isLoaded, maybeWarm, touch, warmAccount } from "./accounts";
import { isDelegation, lacksCode } from "./codes";
import { addTransfer, logsAt } from "./logs";
import { refund } from "./refund";
import { precompile } from "./precompiles";
import { moveClock, pauseAt } from "./clock";
import { setFrameMark, undoAt } from "./undo";
import { COLD_ACCOUNT, endOf, fork, growthPrice, UNPAYABLE, WARM_READ } from "./prices";
import { above, frame, growMemory, openFrame, push, setCode, setFrame } from "./frames";
import { failFor, needs } from "./status";
import * as OP from "./opcodes";
import { enteredStep, exitedStep, noGas, setStepGas } from "./steps";
import { ADDRESS, BALANCE, BALANCE_TOO_LOW, CALLER, CALL_TOO_DEEP, CALL_TRANSFER, CALL_VALUE, CODE, CODE_SIZE, DEPTH, EXHAUSTED, EXISTS, GAS, GOES_ON, HAS_CODE, INPUT, INPUT_SIZE, IS_STATIC, JUMPS, LOGS_MARK, MEMORY, MEMORY_SIZE, NEEDS_ACCOUNT, NEEDS_CODE, OUTPUT, OUTPUT_SIZE, OUT_OF_GAS, PASSED, PAUSED, PRECOMPILE, REFUND_MARK, REFUSED, RETURNED, RETURN_SIZE, SELF, SELF_TRANSFER, SP, STATIC_STATE_CHANGE, UNDO_MARK, VALUE_OVERFLOW } from "./layout";
import { BERLIN, PRAGUE, SPURIOUS_DRAGON, TANGERINE_WHISTLE } from "./forks";


const VALUE_PRICE: i64 = 9000;
const NEW_ACCOUNT_PRICE: i64 = 25000;
const STIPEND: i64 = 2300;
export const DEPTH_LIMIT: u32 = 1024;
const ZERO: usize = memory.data(32, 16);
const WORD: usize = memory.data(32, 16);
const TARGET: usize = memory.data(32, 16);

/** Price of touching an account (EIP-2929), which becomes warm. */
@inline export function accessPrice(account: usize): i64 {
  if (fork < BERLIN) return 0;
  return warmAccount(account) ? COLD_ACCOUNT : WARM_READ;
}

/** True when this gas may pay for an access to the account: checked before anything is loaded for it. */
@inline export function canReach(word: usize, gas: i64): bool {
  return gas >= COLD_ACCOUNT || fork < BERLIN || maybeWarm(word);
}

/** Moves wei, touching both accounts. The sum fits a word. */
export function transfer(from: usize, to: usize, value: usize): void {
  touch(from);
  touch(to);
  if (isZero(value)) return;
  change(from);
  change(to);
  subtract(from + BALANCE, from + BALANCE, value);
  add(to + BALANCE, to + BALANCE, value);
}
/** True when the recipient's balance would not fit a word. */
export function overflows(from: usize, to: usize, value: usize): bool {
  if (from == to) return false;
  add(WORD, to + BALANCE, value);
  return less(WORD, value);
}

/** Returns the account to which an account delegates. */
export function delegateOf(account: usize): usize {
  // The address follows three bytes of prefix; the bytes before it in the word are cleared.
  swapBytes(TARGET, <usize>load<u32>(account, CODE) + 3 - 12);
  store<u32>(TARGET, 0, 20);
  store<u64>(TARGET, 0, 24);
  return accountAt(TARGET);
}

/** Pushes 1 or 0 on the caller's stack when no frame is needed. */
function answerAtOnce(gas: i64, success: bool): i32 {
  store<i64>(frame, gas, GAS);
  set64(WORD, u64(success));
  push(frame, WORD);
  return GOES_ON;
}

/** Ends a call that may not open a frame. */
function refuse(why: i32, gas: i64, passed: i64): i32 {
  if (STEPS) {
    failFor(why);
    exitedStep(REFUSED, passed, 0, 0);
  }
  return answerAtOnce(gas + passed, false);
}

@inline function recordTransfer(op: u32, self: usize, target: usize, value: usize): void {
  if (op == OP.CALL) addTransfer(CALL_TRANSFER, self, target, value);
  else if (self == target) addTransfer(SELF_TRANSFER, self, self, value);
}

/** Stores the marks to which the new frame reverts when it fails. */
export function mark(at: usize): void {
  store<u32>(at, <u32>undoAt, UNDO_MARK);
  store<u32>(at, <u32>logsAt, LOGS_MARK);
  store<i64>(at, refund, REFUND_MARK);
}

export function call(op: u32): i32 {
  const sp = <usize>load<u32>(frame, SP), top = sp - 32;
  const hasValue = op == OP.CALL || op == OP.CALLCODE;
  const value = hasValue ? top - 64 : ZERO, ranges = hasValue ? top - 96 : top - 64;
  let gas = load<i64>(frame, GAS);
  const sends = !isZero(value);
  if (!STEPS && !canReach(top - 32, gas)) return failFor(op == OP.CALL && sends && load<u32>(frame, IS_STATIC) ? STATIC_STATE_CHANGE : OUT_OF_GAS);
  const target = accountAt(top - 32);
  if (!isLoaded(target)) return needs(NEEDS_ACCOUNT, target);
  if (lacksCode(target)) return needs(NEEDS_CODE, target);
  let runs = target;
  const delegates = fork >= PRAGUE && has(target, HAS_CODE) && isDelegation(target);
  if (delegates) {
    runs = delegateOf(target);
    if (!isLoaded(runs)) return needs(NEEDS_ACCOUNT, runs);
    if (lacksCode(runs)) return needs(NEEDS_CODE, runs);
  }
  if (gas < pauseAt) return PAUSED;
  const isForbidden = op == OP.CALL && sends && load<u32>(frame, IS_STATIC) != 0;
  if (!STEPS && isForbidden) return failFor(STATIC_STATE_CHANGE);
  const input = toSize(ranges), inputSize = toSize(ranges - 32), output = toSize(ranges - 64), outputSize = toSize(ranges - 96);
  const end = max(endOf(input, inputSize), endOf(output, outputSize));
  gas -= growthPrice(load<u32>(frame, MEMORY_SIZE), end);
  if (!STEPS && gas < 0) return failFor(OUT_OF_GAS);
  gas -= accessPrice(target);
  if (sends) gas -= VALUE_PRICE;
  if (op == OP.CALL && (sends || fork < SPURIOUS_DRAGON)) {
    if (fork >= SPURIOUS_DRAGON ? isEmpty(target) : !has(target, EXISTS)) gas -= NEW_ACCOUNT_PRICE;
  }
  if (delegates) gas -= accessPrice(runs);
  if (gas < 0) return noGas(gas);
  const asked = toSize(top);
  const most = fork >= TANGERINE_WHISTLE ? gas - (gas >> 6) : gas;
  let passed = most;
  if (asked < <u64>most) passed = <i64>asked;
  else if (fork < TANGERINE_WHISTLE && asked > <u64>most) return noGas(-UNPAYABLE);
  gas -= passed;
  if (STEPS) {
    setStepGas(gas);
    if (isForbidden) return failFor(STATIC_STATE_CHANGE);
  }
  if (sends) passed += STIPEND;
  if (!growMemory(frame, end)) return EXHAUSTED;
  store<u32>(frame, <u32>((hasValue ? top - 192 : top - 160)), SP);
  store<u32>(frame, 0, RETURN_SIZE);
  const self = <usize>load<u32>(frame, SELF);
  if (STEPS) enteredStep(op, self, target, load<u32>(frame, MEMORY) + <usize>(inputSize ? input : 0), <usize>inputSize, passed, op == OP.DELEGATECALL ? frame + CALL_VALUE : value);
  const isDeep = load<u32>(frame, DEPTH) >= DEPTH_LIMIT;
  if (isDeep || (hasValue && less(self + BALANCE, value))) return refuse(isDeep ? CALL_TOO_DEEP : BALANCE_TOO_LOW, gas, passed);
  if (op == OP.CALL && sends && overflows(self, target, value)) return refuse(VALUE_OVERFLOW, gas, passed);
  const isPrecompile = load<u32>(target, PRECOMPILE) != 0;
  if (!isPrecompile && load<u32>(runs, CODE_SIZE) == 0) {
    // No code runs and nothing can fail.
    if (sends) recordTransfer(op, self, target, value);
    if (op != OP.DELEGATECALL) transfer(self, op == OP.CALL || op == OP.STATICCALL ? target : self, value);
    if (STEPS) exitedStep(RETURNED, passed, 0, 0);
    return answerAtOnce(gas + passed, true);
  }
  store<i64>(frame, gas, GAS);
  return enter(op, target, runs, value, gas, passed, <u32>input, <u32>inputSize, <u32>output, <u32>outputSize);
}

function enter(op: u32, target: usize, runs: usize, value: usize, gas: i64, passed: i64, input: u32, inputSize: u32, output: u32, outputSize: u32): i32 {
  const caller = frame, self = <usize>load<u32>(caller, SELF);
  const at = openFrame(above());
  if (at == 0) return EXHAUSTED;
  mark(at);
  const inPlace = op == OP.DELEGATECALL || op == OP.CALLCODE;
  store<u32>(at, <u32>(inPlace ? self : target), SELF);
  store<u32>(at, inputSize ? load<u32>(caller, MEMORY) + input : 0, INPUT);
  store<u32>(at, inputSize, INPUT_SIZE);
  store<u32>(at, output, OUTPUT);
  store<u32>(at, outputSize, OUTPUT_SIZE);
  store<u32>(at, load<u32>(caller, IS_STATIC) | u32(op == OP.STATICCALL), IS_STATIC);
  store<i64>(at, passed, GAS);
  store<i64>(at, isZero(value) ? passed : passed - STIPEND, PASSED);
  if (op == OP.DELEGATECALL) {
    copy(at + CALLER, caller + CALLER);
    copy(at + CALL_VALUE, caller + CALL_VALUE);
  } else {
    copy(at + CALLER, self + ADDRESS);
    copy(at + CALL_VALUE, value);
  }
  setFrameMark(undoAt);
  moveClock(gas + passed, passed);
  setFrame(at);
  if (!isZero(value)) recordTransfer(op, self, target, value);
  if (op != OP.DELEGATECALL) transfer(self, inPlace ? self : target, value);
  const number = load<u32>(target, PRECOMPILE);
  if (number) return precompile(number, passed, inputSize);
  setCode(at, load<u32>(runs, CODE), load<u32>(runs, CODE_SIZE), load<u32>(runs, JUMPS));
  return GOES_ON;
}
