/*
 * Operations on the stack in memory. `top`: the uppermost word; `gas`: after the fixed price. They return the remaining gas; below zero
 * they have changed nothing but what fails with the frame: the negated status, or FAILURE and the reason.
 */
import { byteLength, clear, copy, set64, swapBytes, toSize } from "./word";
import { power } from "./arithmetic";
import { keccak256 } from "../../../../crypto/assembly/keccak";
import { accountAt, has, isEmpty, isLoaded } from "./accounts";
import { accessPrice, canReach } from "./calls";
import { EMPTY_HASH, hashOf, lacksCode } from "./codes";
import { frame, growMemory } from "./frames";
import { endOf, fork, growthPrice, perWord, UNPAYABLE } from "./prices";
import { setValue, slotOf, transientOf } from "./slots";
import { limitSpare } from "./spare";
import { canRead, readPrice, SENTRY, writePrice } from "./storage";
import { failFor, needs } from "./status";
import { setStepGas } from "./steps";
import { BALANCE, CODE_SIZE, EXHAUSTED, HAS_CODE, IS_STATIC, MEMORY, MEMORY_SIZE, NEEDS_ACCOUNT, NEEDS_CODE, NEEDS_SLOT, OUT_OF_GAS, SELF, SLOT_LOADED, STATIC_STATE_CHANGE, VALUE } from "./layout";
import { ISTANBUL, SPURIOUS_DRAGON } from "./forks";

export const FAILURE: i32 = 32;
export const NO_GAS: i64 = -(32 + <i64>OUT_OF_GAS);
const STATIC: i64 = -(32 + <i64>STATIC_STATE_CHANGE);

/** End of an operation that leaves less than no gas. */
@inline function shortOf(left: i64): i64 {
  if (STEPS) setStepGas(left);
  return NO_GAS;
}

/** Status of an operation that returned less than zero. */
@inline export function endOfOperation(left: i64): i32 {
  const answer = -<i32>left;
  return answer > FAILURE ? failFor(answer - FAILURE) : answer;
}

export function hashAt(top: usize, gas: i64): i64 {
  const offset = toSize(top), bytes = toSize(top - 32), end = endOf(offset, bytes);
  let left = gas - growthPrice(load<u32>(frame, MEMORY_SIZE), end);
  if (STEPS || left >= 0) left -= perWord(bytes, 6);
  if (left < 0) return shortOf(left);
  if (!growMemory(frame, end)) return -<i64>EXHAUSTED;
  keccak256(<usize>load<u32>(frame, MEMORY) + <usize>(bytes ? offset : 0), <usize>bytes, top - 32);
  swapBytes(top - 32, top - 32);
  return left;
}
export function powerAt(top: usize, gas: i64): i64 {
  const left = gas - (fork >= SPURIOUS_DRAGON ? 50 : 10) * <i64>byteLength(top - 32);
  if (left < 0) return shortOf(left);
  power(top - 32, top, top - 32);
  return left;
}
@inline export function loadSlotAt(top: usize, gas: i64): i64 {
  const self = <usize>load<u32>(frame, SELF);
  if (!STEPS && !canRead(self, top, gas)) return NO_GAS;
  const slot = slotOf(self, top);
  if (!load<u32>(slot, SLOT_LOADED)) return -<i64>needs(NEEDS_SLOT, slot);
  const left = gas - readPrice(slot);
  if (left < 0) return shortOf(left);
  copy(top, slot + VALUE);
  return left;
}
@inline export function storeSlotAt(top: usize, gas: i64): i64 {
  if (load<u32>(frame, IS_STATIC)) return STATIC;
  if (fork >= ISTANBUL && gas <= SENTRY) return shortOf(-UNPAYABLE);
  const slot = slotOf(load<u32>(frame, SELF), top);
  if (!load<u32>(slot, SLOT_LOADED)) return -<i64>needs(NEEDS_SLOT, slot);
  if (fork >= ISTANBUL) limitSpare(gas - SENTRY - 1);
  const left = gas - writePrice(slot, top - 32);
  if (left < 0) return shortOf(left);
  setValue(slot, top - 32);
  return left;
}
export function storeTransientAt(top: usize, gas: i64): i64 {
  if (load<u32>(frame, IS_STATIC)) return STATIC;
  setValue(transientOf(load<u32>(frame, SELF), top), top - 32);
  return gas;
}
@inline export function balanceAt(top: usize, gas: i64): i64 {
  if (!STEPS && !canReach(top, gas)) return NO_GAS;
  const account = accountAt(top);
  if (!isLoaded(account)) return -<i64>needs(NEEDS_ACCOUNT, account);
  const left = gas - accessPrice(account);
  if (left < 0) return shortOf(left);
  copy(top, account + BALANCE);
  return left;
}
export function codeSizeAt(top: usize, gas: i64): i64 {
  if (!STEPS && !canReach(top, gas)) return NO_GAS;
  const account = accountAt(top);
  if (!isLoaded(account)) return -<i64>needs(NEEDS_ACCOUNT, account);
  if (lacksCode(account)) return -<i64>needs(NEEDS_CODE, account);
  const left = gas - accessPrice(account);
  if (left < 0) return shortOf(left);
  set64(top, load<u32>(account, CODE_SIZE));
  return left;
}
export function codeHashAt(top: usize, gas: i64): i64 {
  if (!STEPS && !canReach(top, gas)) return NO_GAS;
  const account = accountAt(top);
  if (!isLoaded(account)) return -<i64>needs(NEEDS_ACCOUNT, account);
  const left = gas - accessPrice(account);
  if (left < 0) return shortOf(left);
  if (isEmpty(account)) clear(top);
  else swapBytes(top, has(account, HAS_CODE) ? hashOf(account) : EMPTY_HASH);
  return left;
}
